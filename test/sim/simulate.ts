/**
 * One simulation: nodes that make blocks, users that send transactions, and faults, all from one
 * seed. Ends with a quiet time, after which all nodes must agree.
 */
import { base58 } from '../../src/base/base58.ts';
import { latin1 } from '../../src/base/bytes.ts';
import { ApiError } from '../../src/base/errors.ts';
import type { LogFields } from '../../src/base/ports.ts';
import { CodecError } from '../../src/codec/codec.ts';
import { decodeTx } from '../../src/tx/bytes.ts';
import { Broken, Checkers } from './checkers.ts';
import { Liar } from './liar.ts';
import { type LinkQuality, type Party, SimNetwork } from './network.ts';
import { Crash, type Disk, type Ground, type SimNode, sharedVerifier, startNode } from './node.ts';
import { Dice } from './random.ts';
import { type Account, chain, GENESIS_TIME, genesisOf, LENGTH_MS, owners } from './settings.ts';
import { createWorkload } from './workload.ts';
import { World } from './world.ts';

export interface SimOptions {
  readonly seed: number;
  /** Virtual time with faults and load. */
  readonly seconds: number;
  readonly nodes: number;
  readonly trace?: (line: string) => void;
}

export interface SimResult {
  readonly height: number;
  readonly stateHash: string;
  readonly accepted: number;
  readonly reorganisations: number;
  readonly depthMax: number;
  readonly crashes: number;
  readonly steps: number;
}

/** Long enough to reconnect, to run into the time-outs of sync, and to make two blocks. */
const QUIET_MS = 24 * LENGTH_MS;
const FAULT_EVERY_MS = 40_000;
const PARTITION_MS_MAX = 150_000;
const DOWN_MS_MAX = 60_000;
const LOAD_EVERY_MS = 700;

export async function simulate(options: SimOptions): Promise<SimResult> {
  const simulation = new Simulation(options);
  const onStray = (error: unknown): void => simulation.stray(error);
  process.on('unhandledRejection', onStray);
  try {
    return await simulation.run();
  } finally {
    process.off('unhandledRejection', onStray);
  }
}

class Simulation {
  private readonly options: SimOptions;
  private readonly dice: Dice;
  private readonly world = new World(GENESIS_TIME + 1);
  private readonly net: SimNetwork;
  private readonly checkers = new Checkers();
  private readonly ground: Ground;
  private readonly nodes: (SimNode | undefined)[] = [];
  private readonly disks: (Disk | undefined)[] = [];
  private readonly liars = new Set<string>();
  /** Node → transactions that left its pool with a reason, over all its lives. */
  private readonly refused = new Map<string, Set<string>>();
  private failure: unknown;
  private quiet = false;
  private crashes = 0;

  constructor(options: SimOptions) {
    this.options = options;
    this.dice = new Dice(options.seed);
    this.net = new SimNetwork(this.world, this.dice.fork(), (by, of, offence, detail) =>
      this.offence(by, of, offence, detail),
    );
    this.ground = {
      world: this.world,
      net: this.net,
      genesis: genesisOf(options.nodes),
      verifier: sharedVerifier(),
      quorum: this.dice.pick([0, 0, 1]),
      log: (node, level, event, fields) => this.log(node, level, event, fields),
      crashed: (node) => this.fell(node),
    };
  }

  async run(): Promise<SimResult> {
    const { nodes, seconds } = this.options;
    this.net.quality = this.anyQuality();
    for (let i = 0; i < nodes; i++) this.guard(this.start(i));
    if (this.dice.happens(0.5)) this.startLiar();
    const workload = createWorkload(this.dice.fork(), nodes);
    this.every(LOAD_EVERY_MS, () => {
      const node = this.dice.pick(this.nodes);
      if (node?.isAlive() === true) this.guard(this.submit(node, workload.next(node.clock.now())));
    });
    this.every(FAULT_EVERY_MS, () => this.fault());
    await this.runFor(seconds * 1000);
    this.heal();
    await this.runFor(QUIET_MS);
    return this.finish();
  }

  private async runFor(ms: number): Promise<void> {
    const end = this.world.now + ms;
    while (this.world.now < end) {
      await this.world.runUntil(Math.min(end, this.world.now + 1000));
      if (this.failure !== undefined) throw this.failure;
    }
  }

  private async finish(): Promise<SimResult> {
    const alive = this.nodes.filter((node) => node !== undefined);
    if (alive.length !== this.options.nodes) throw new Broken('not every node came back');
    for (const node of alive) this.keepRefused(node);
    this.checkers.converged(alive);
    this.checkers.nothingLost(alive, this.refused);
    const [first] = alive;
    const { height } = first!.blockchain.tip();
    const hash = latin1(first!.blockchain.stateHash(height)!);
    await this.checkers.undoIsIdentity(first!, 10 + this.dice.below(40));
    if (this.failure !== undefined) throw this.failure;
    const { reorganisations, depthMax, acceptedCount: accepted } = this.checkers;
    const stateHash = Buffer.from(hash, 'latin1').toString('hex');
    const { crashes } = this;
    for (const node of alive) node.kill();
    const { steps } = this.world;
    return { height, stateHash, accepted, reorganisations, depthMax, crashes, steps };
  }

  /** Repeats with random pauses, until the quiet time. */
  private every(ms: number, action: () => void): void {
    const next = (): void => {
      if (this.quiet) return;
      action();
      this.world.after(1 + this.dice.below(2 * ms), next);
    };
    this.world.after(1 + this.dice.below(2 * ms), next);
  }

  private async start(i: number): Promise<void> {
    const owner = owners[i]!;
    const skew = this.quiet ? 0 : this.anySkew();
    const node = await startNode(this.ground, owner, this.disks[i], skew);
    this.nodes[i] = node;
    this.trace(owner.name, `starts at height ${node.blockchain.tip().height}, skew ${skew} ms`);
    this.checkers.watch(node);
  }

  private startLiar(): void {
    const owner: Account = owners.at(-1)!;
    const party: Party = { ...owner, name: 'liar', owner: owner.address, mode: 'default' };
    this.liars.add('liar');
    const port = this.net.attach(party);
    new Liar(port, this.world, this.dice.fork()).start();
  }

  private async submit(node: SimNode, made: ReturnType<typeof decodeTx>): Promise<void> {
    try {
      const tx = decodeTx(made.bytes, chain);
      await node.submit(tx);
      if (!node.isAlive()) return;
      this.checkers.noteAccepted(node, tx);
      this.trace(node.owner.name, `accepts ${base58.encode(tx.id)}`);
    } catch (error) {
      const isRefusal = error instanceof ApiError || error instanceof CodecError;
      if (!isRefusal && !(error instanceof Crash)) throw error;
    }
  }

  private fault(): void {
    const { dice } = this;
    const kind = dice.below(6);
    if (kind === 0) this.kill(dice.below(this.options.nodes));
    else if (kind === 1) this.nodes[dice.below(this.options.nodes)]?.crashAt(dice.below(200));
    else if (kind === 2) this.partition();
    else if (kind === 3) this.net.healAll();
    else if (kind === 4) this.net.quality = this.anyQuality();
    else {
      const node = dice.pick(this.nodes);
      if (node !== undefined) node.clock.skewMs = this.anySkew();
    }
  }

  private partition(): void {
    const { dice, net } = this;
    const names = dice.shuffled(owners.slice(0, this.options.nodes).map(({ name }) => name));
    const left = names.slice(0, dice.between(1, names.length - 1));
    const right = names.filter((name) => !left.includes(name));
    const oneWay = dice.happens(0.2);
    this.trace('world', `${left.join(', ')} | ${right.join(', ')}${oneWay ? ' one way' : ''}`);
    for (const a of left) {
      for (const b of right) {
        net.sever(a, b);
        if (!oneWay) net.sever(b, a);
      }
    }
    this.world.after(dice.below(PARTITION_MS_MAX), () => net.healAll());
  }

  private kill(i: number): void {
    const node = this.nodes[i];
    if (node === undefined) return;
    node.kill();
    this.fell(node);
  }

  private fell(node: SimNode): void {
    const i = this.nodes.indexOf(node);
    if (i === -1) return;
    this.crashes++;
    this.trace(node.owner.name, `falls at height ${node.blockchain.tip().height}`);
    this.keepRefused(node);
    this.disks[i] = node.disk;
    this.nodes[i] = undefined;
    this.world.after(1 + this.dice.below(DOWN_MS_MAX), () => this.guard(this.start(i)));
  }

  private keepRefused(node: SimNode): void {
    const known = this.refused.get(node.owner.name) ?? new Set();
    for (const id of node.refused) known.add(id);
    this.refused.set(node.owner.name, known);
  }

  private heal(): void {
    this.quiet = true;
    this.net.healAll();
    this.net.quality = { delayMs: 20, jitterMs: 30, loss: 0, duplication: 0 };
    for (const node of this.nodes) {
      if (node !== undefined) node.clock.skewMs = 0;
    }
    this.trace('world', 'quiet from here');
  }

  private anyQuality(): LinkQuality {
    const { dice } = this;
    return {
      delayMs: dice.pick([1, 20, 100, 400]),
      jitterMs: dice.pick([1, 50, 500, 1600]),
      loss: dice.pick([0, 0, 0.01, 0.1]),
      duplication: dice.pick([0, 0.05]),
    };
  }

  private anySkew(): number {
    return this.dice.happens(0.2) ? this.dice.between(-5_000, 5_000) : this.dice.between(-80, 80);
  }

  private offence(by: Party, of: Party, offence: string, detail: string): void {
    this.trace(by.name, `accuses ${of.name} of ${offence}: ${detail}`);
    if (this.liars.has(of.name) || offence === 'unanswered-request') return;
    this.failure ??= new Broken(`${by.name} accuses ${of.name} of ${offence}: ${detail}`);
  }

  private log(node: string, level: string, event: string, fields: LogFields): void {
    this.trace(node, `${level} ${event} ${JSON.stringify(fields)}`);
    if (event === 'sync.failed' || event === 'block.gossip-failed') {
      if (!String(fields['why']).includes('Crash')) {
        this.failure ??= new Broken(`${node}: ${event}: ${String(fields['why'])}`);
      }
    }
  }

  private trace(who: string, what: string): void {
    const seconds = ((this.world.now - GENESIS_TIME) / 1000).toFixed(3);
    this.options.trace?.(`${seconds.padStart(9)} ${who.padEnd(7)} ${what}`);
  }

  private guard(work: Promise<void>): void {
    work.catch((error: unknown) => this.stray(error));
  }

  stray(error: unknown): void {
    if (!(error instanceof Crash)) this.failure ??= error;
  }
}
