/**
 * A network of simulated nodes on one clock and one memory network, with all events that may happen
 * to them: they start, crash, come back and are cut off. Checks run all the time.
 *
 * Invariant: everything that happens follows from the seed, so two runs have the same trace.
 */
import { createHash } from 'node:crypto';
import { base58 } from '../../../src/base/base58.ts';
import { ApiError } from '../../../src/base/errors.ts';
import type { LogFields } from '../../../src/base/ports/log.ts';
import { headerRowAt } from '../../../src/chain/store/stored-blocks.ts';
import { CodecError } from '../../../src/codec/codec.ts';
import { InitialSyncError } from '../../../src/network/peers/initial-sync.ts';
import type { Config } from '../../../src/node/config/settings.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { decodeTx } from '../../../src/tx/tx-bytes.ts';
import { scheme } from '../../chain/chain-harness.ts';
import { memoryFiles } from '../../keystore/sample.ts';
import { createMemoryNet, type MemoryNet } from '../../simulated/memory-net.ts';
import { Broken, Checkers, SLOW } from './checkers.ts';
import { ColdWatch } from './cold-watch.ts';
import { Crash, type Disk, type Ground, SimNode, sharedVerifier } from './node.ts';
import { Dice } from './random.ts';
import {
  configOf,
  GENESIS_TIME,
  genesisOf,
  liarMember,
  type Member,
  type Rules,
} from './settings.ts';
import { Weather } from './weather.ts';
import type { Workload } from './workload.ts';
import { World } from './world.ts';

export interface ClusterOptions extends Rules {
  readonly seed: number;
  /** Everybody knows everybody from the configuration; otherwise chance decides. */
  readonly acquainted?: boolean;
  /** Longest pause after which a connection tries again what it has sent into a cut line. */
  readonly retransmissionMs?: number;
  /** A node that has crashed is down for so long at most. */
  readonly downMsMax?: number;
  readonly trace?: ((line: string) => void) | undefined;
  /** The container engine of every node; absent: some have one (contracts.ts). */
  readonly engine?: Ground['engine'];
}

/** A supervisor starts a node again that could not join its network. */
const START_AGAIN_MS = 10_000;
const STEP_MS = 1_000;
const DOWN_MS_MAX = 60_000;

export class Cluster {
  readonly options: ClusterOptions;
  readonly dice: Dice;
  readonly world = new World(GENESIS_TIME + 1);
  readonly weather: Weather;
  readonly checkers = new Checkers();
  readonly ground: Ground;
  cold: ColdWatch;
  /** By the number of their member; undefined while they are down. */
  readonly nodes: (SimNode | undefined)[] = [];
  /** Called with every node that is about to start. */
  onStart: ((node: SimNode, i: number) => void) | undefined;
  crashes = 0;
  /** Rows of the writes in which nodes have crashed. */
  readonly crashedWrites: number[] = [];
  private readonly net: MemoryNet;
  private configs: readonly Config[];
  private readonly disks: (Disk | undefined)[] = [];
  /** Member → transactions that left its pool with a reason, over all its lives. */
  private readonly refused = new Map<string, Set<string>>();
  private readonly hash = createHash('sha256');
  private failure: unknown;

  constructor(options: ClusterOptions) {
    this.options = options;
    this.dice = new Dice(options.seed);
    const { world, dice } = this;
    this.weather = new Weather(world, dice.fork(), options.retransmissionMs);
    this.net = createMemoryNet({
      after: (ms, action) => world.after(ms, action),
      faults: (delivery) => this.weather.fate(delivery),
    });
    const { members } = options;
    this.configs = members.map((member) => configOf(options, member, this.knownTo(member)));
    this.ground = {
      world,
      genesis: genesisOf(this.configs[0]!),
      verifier: sharedVerifier(),
      contracts: [],
      engine: options.engine,
      host: (name) => this.net.host(name),
      seals: (node, block) => {
        const broken = this.checkers.noteSealed(node, block);
        if (broken !== undefined) this.fail(new Broken(broken));
      },
      log: (node, level, event, fields) => this.log(node, level, event, fields),
      crashed: (node, rows) => {
        this.crashedWrites.push(rows);
        this.fell(node, 1 + dice.below(options.downMsMax ?? DOWN_MS_MAX));
      },
      broken: (node, cause) => this.fail(new Broken(`${node.name} stops: ${String(cause)}`)),
    };
    this.cold = this.newCold();
  }

  private newCold(): ColdWatch {
    return new ColdWatch({
      config: this.config,
      genesis: this.ground.genesis,
      checkers: this.checkers,
      fail: (error) => this.fail(error),
    });
  }

  /** All members have this configuration from their next start on, and the judge of all blocks, too. */
  configure(changed: (config: Config, i: number) => Config): void {
    this.configs = this.configs.map(changed);
    this.cold = this.newCold();
  }

  /** Everybody knows the first member and some of the others, as operators write it down. */
  private knownTo(member: Member): Member[] {
    const [first, ...others] = this.options.members.filter((one) => one !== member);
    if (this.options.acquainted === true)
      return [...(first === undefined ? [] : [first]), ...others];
    return [
      ...(first === undefined ? [] : [first]),
      ...others.filter(() => this.dice.happens(0.5)),
    ];
  }

  get config(): Config {
    return this.configs[0]!;
  }

  alive(): SimNode[] {
    return this.nodes.filter((node) => node !== undefined);
  }

  /** Those that have started, too. */
  running(): SimNode[] {
    return this.alive().filter(({ inner }) => inner !== undefined);
  }

  /** What the one has on its disk stands on that of the other, too, when it starts for the first time. */
  copyDisk(from: number, to: number): void {
    const { store } = this.nodes[from]!.disk;
    this.disks[to] = { store, records: [], turns: [], files: memoryFiles() };
  }

  start(i: number): void {
    const member = this.options.members[i]!;
    const disk = this.disks[i];
    const node = new SimNode(this.ground, member, this.configs[i]!, disk, this.dice.fork());
    this.nodes[i] = node;
    this.trace(node.name, 'starts');
    this.onStart?.(node, i);
    this.guard(this.join(i, node));
  }

  private async join(i: number, node: SimNode): Promise<void> {
    try {
      await node.start();
    } catch (error) {
      if (!(error instanceof InitialSyncError)) throw error;
      // A node that fell meanwhile has another life already, or will have.
      if (!node.isAlive) return;
      this.trace(node.name, `cannot join: ${error.message}`);
      node.kill();
      this.settleAccounts(i, node);
      this.world.after(START_AGAIN_MS, () => this.start(i));
      return;
    }
    this.trace(node.name, `is up at height ${node.blockchain.tip().height}`);
    this.checkers.watch(node);
    this.cold.watch(node);
  }

  /** The node ends and comes back after a while; with its power it ends without a word. */
  kill(i: number, downMs: number, withPower = false): void {
    const node = this.nodes[i];
    if (node === undefined) return;
    node.kill(withPower);
    if (withPower) this.isolate(i, downMs);
    this.fell(node, downMs);
  }

  private fell(node: SimNode, downMs: number): void {
    const i = this.nodes.indexOf(node);
    if (i === -1) return;
    this.crashes++;
    this.trace(node.name, 'falls');
    this.settleAccounts(i, node);
    this.world.after(downMs, () => this.start(i));
  }

  private settleAccounts(i: number, node: SimNode): void {
    this.keepRefused(node);
    this.disks[i] = node.disk;
    this.nodes[i] = undefined;
  }

  /** Nothing passes from any of these to any of those, nor back unless `oneWay`. */
  cut(these: readonly number[], those: readonly number[], ms: number, oneWay = false): void {
    const hostOf = (i: number): string => this.options.members[i]!.host;
    for (const a of these) {
      for (const b of those) {
        this.weather.cut(hostOf(a), hostOf(b), ms);
        if (!oneWay) this.weather.cut(hostOf(b), hostOf(a), ms);
      }
    }
  }

  isolate(i: number, ms: number): void {
    const { host } = this.options.members[i]!;
    for (const other of [...this.options.members, liarMember]) {
      if (other.host === host) continue;
      this.weather.cut(host, other.host, ms);
      this.weather.cut(other.host, host, ms);
    }
  }

  /** A client sends it to this node; true once it is accepted. */
  async submit(node: SimNode, made: Tx): Promise<boolean> {
    try {
      const tx = decodeTx(made.bytes, scheme);
      await node.pool.submit(tx);
      if (!node.isAlive) return false;
      this.checkers.noteAccepted(node, tx);
      this.trace(node.name, `accepts ${tx.def.name} ${base58.encode(tx.id)}`);
      return true;
    } catch (error) {
      const isRefusal = error instanceof ApiError || error instanceof CodecError;
      if (!isRefusal && !(error instanceof Crash)) throw error;
      this.trace(node.name, `refuses ${made.def.name}: ${error.message}`);
      return false;
    }
  }

  /** A user sends the next transaction to any node that takes some. */
  send(workload: Workload): void {
    const able = this.running().filter(({ member }) => member.part !== 'watcher');
    if (able.length === 0) return;
    const node = this.dice.pick(able);
    const { tx, accepted } = workload.next(this.world.now, node.blockchain.view);
    const sent = this.submit(node, tx);
    this.guard(sent.then((isAccepted) => isAccepted && accepted?.()));
  }

  /** Lets this much time pass; throws what went wrong in it. */
  async run(ms: number): Promise<void> {
    const onStray = (error: unknown): void => this.stray(error);
    process.on('unhandledRejection', onStray);
    try {
      const end = this.world.now + ms;
      while (this.world.now < end) {
        await this.world.runUntil(Math.min(end, this.world.now + STEP_MS));
        await this.cold.idle();
        if (this.failure !== undefined) throw this.failure;
        this.checkers.look(this.running());
      }
    } finally {
      process.off('unhandledRejection', onStray);
    }
  }

  /** Lets time pass until it holds; false if it does not within `ms`. */
  async runUntil(holds: () => boolean, ms: number): Promise<boolean> {
    for (const end = this.world.now + ms; this.world.now < end; ) {
      if (holds()) return true;
      await this.run(STEP_MS);
    }
    return holds();
  }

  /** Names of those who made the blocks above this height, as the first node has them. */
  makersSince(height: number): string[] {
    const [first] = this.running();
    if (first === undefined) return [];
    const { view } = first.blockchain;
    const tip = () => first.blockchain.tip();
    return Array.from({ length: tip().height - height }, (_, i) => {
      const { generator } = headerRowAt(view, height + i + 1)!.header;
      return this.nameOf(scheme.addressToText(scheme.addressOf(generator)));
    });
  }

  /** Nothing that was accepted may be lost without a word. */
  nothingLost(): void {
    for (const node of this.running()) this.keepRefused(node);
    this.checkers.nothingLost(this.running(), this.refused);
  }

  /** Ends all nodes; the digest of everything that was traced. */
  end(): string {
    for (const node of this.alive()) node.kill();
    return this.hash.copy().digest('hex');
  }

  private keepRefused(node: SimNode): void {
    const known = this.refused.get(node.name) ?? new Set();
    for (const id of node.refused) known.add(id);
    this.refused.set(node.name, known);
  }

  nameOf(ownerText: unknown): string {
    const all = [...this.options.members, liarMember];
    return all.find(({ account }) => account.text === ownerText)?.name ?? String(ownerText);
  }

  private log(node: SimNode, level: string, event: string, fields: LogFields): void {
    this.trace(node.name, `${level} ${event} ${JSON.stringify(fields)}`);
    if (event === 'peer.offence') this.offence(node, fields);
    else if (event === 'block.equivocation') {
      this.fail(new Broken(`${node.name} has the proof: ${JSON.stringify(fields)}`));
    } else if (level === 'error' && !String(fields['why']).includes('Crash')) {
      this.fail(new Broken(`${node.name}: ${event} ${JSON.stringify(fields)}`));
    }
  }

  /** Honest nodes are never found guilty of more than being slow. */
  private offence(node: SimNode, { owner, offence, detail }: LogFields): void {
    const accused = this.nameOf(owner);
    if (accused === liarMember.name || SLOW.has(String(offence))) return;
    this.fail(new Broken(`${node.name} accuses ${accused} of ${offence}: ${detail}`));
  }

  trace(who: string, what: string): void {
    const seconds = ((this.world.now - GENESIS_TIME) / 1000).toFixed(3);
    const line = `${seconds.padStart(9)} ${who.padEnd(5)} ${what}`;
    this.hash.update(line);
    this.options.trace?.(line);
  }

  guard(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.stray(error));
  }

  private stray(error: unknown): void {
    if (!(error instanceof Crash)) this.fail(error);
  }

  fail(error: unknown): void {
    this.failure ??= error;
  }
}
