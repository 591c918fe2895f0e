/**
 * One machine of a simulation: a whole node on virtual ports. The content of its disk survives its
 * crashes.
 */

import { base58 } from '../../../src/base/base58.ts';
import { latin1 } from '../../../src/base/bytes.ts';
import type { Journal } from '../../../src/base/ports/journal.ts';
import type { Log, LogFields, LogLevel } from '../../../src/base/ports/log.ts';
import type { Verifier } from '../../../src/base/ports/verifier.ts';
import type { Block } from '../../../src/block/block.ts';
import { headerHash } from '../../../src/block/header.ts';
import { encodeNote, FIRST_NOTE } from '../../../src/finality/note-file.ts';
import { openKeystore } from '../../../src/keystore/keystore.ts';
import { readRecord } from '../../../src/miner/slot-records.ts';
import type { Config } from '../../../src/node/config/settings.ts';
import { notePath } from '../../../src/node/finality/voter-note.ts';
import { createNode, type Node } from '../../../src/node/node.ts';
import { patternsHere } from '../../../src/rest/key-filter.ts';
import type { PeersPort } from '../../../src/rest/services.ts';
import { family, scheme } from '../../chain/chain-harness.ts';
import { memoryFiles } from '../../keystore/sample.ts';
import { noHttp } from '../../node/memory-ports.ts';
import type { SimulatedContainers } from '../../simulated/containers.ts';
import type { MemoryHost } from '../../simulated/memory-net.ts';
import { createMemoryStore, type MemoryStore } from '../../simulated/memory-store.ts';
import { type Acquaintances, contractsOf } from './contracts.ts';
import type { Dice } from './random.ts';
import { executes, type Member } from './settings.ts';
import { type NodeClock, nodeClock, type World } from './world.ts';

/** The end of a node in the middle of a write. */
export class Crash extends Error {}

export interface Ground {
  readonly world: World;
  readonly genesis: Block;
  readonly verifier: Verifier;
  readonly contracts: Acquaintances;
  /** The engine of every node; absent: some have one, with the contracts of `contracts.ts`. */
  readonly engine: ((clock: NodeClock) => SimulatedContainers) | undefined;
  host(name: string): MemoryHost;
  log(node: SimNode, level: LogLevel, event: string, fields: LogFields): void;
  /** The node has this block, which it has sealed, on its disk. */
  seals(node: SimNode, block: Uint8Array): void;
  /** A node stopped by itself in a write of so many rows. */
  crashed(node: SimNode, rows: number): void;
  /** A node wants to be stopped, since it is broken. */
  broken(node: SimNode, cause: unknown): void;
}

/** What a node leaves behind. Copies are made at its next start. */
export interface Disk {
  readonly store: MemoryStore;
  records: Uint8Array[];
  turns: Uint8Array[];
  readonly files: ReturnType<typeof memoryFiles>;
}

const WRITE_MS_MAX = 20;

export class SimNode {
  readonly member: Member;
  readonly config: Config;
  readonly clock: NodeClock;
  readonly disk: Disk;
  /** Ids of transactions that left the pool with a reason. */
  readonly refused = new Set<string>();
  /** Undefined until it has started, which includes the initial sync. */
  inner: Node | undefined;
  isAlive = true;
  /** Undefined where it executes no contracts. */
  containers: SimulatedContainers | undefined;
  private readonly ground: Ground;
  private readonly dice: Dice;
  private readonly host: MemoryHost;
  private fatal: { readonly step: number; readonly rowsMin: number } | undefined;

  constructor(ground: Ground, member: Member, config: Config, left: Disk | undefined, dice: Dice) {
    this.ground = ground;
    this.member = member;
    this.config = config;
    this.dice = dice;
    this.clock = nodeClock(ground.world, 0);
    this.host = ground.host(member.host);
    this.disk = {
      store: createMemoryStore({
        rows: left?.store.dump() ?? [],
        fail: (step, of) => this.write(step, of),
        hold: () => this.written(),
      }),
      records: [...(left?.records ?? [])],
      turns: [...(left?.turns ?? [])],
      files: left?.files ?? memoryFiles(),
    };
  }

  get name(): string {
    return this.member.name;
  }

  /** What runs inside; a node that has not started has none of it. */
  private get started(): Node {
    if (this.inner === undefined) throw new Error(`${this.name} has not started`);
    return this.inner;
  }

  get blockchain(): Node['blockchain'] {
    return this.started.blockchain;
  }

  get pool(): Node['pool'] {
    return this.started.pool;
  }

  get peers(): PeersPort {
    const { peers } = this.started.services;
    if (peers === undefined) throw new Error(`${this.name} has no network`);
    return peers;
  }

  /** Rejects with InitialSyncError where the network does not know the owner. */
  async start(): Promise<void> {
    const { clock, dice, disk, config, ground } = this;
    const keystore = await openKeystore(
      { path: config.wallet.file, layout: family.keystoreLayout, password: '' },
      { files: disk.files, random: dice, family, scheme },
    );
    if (ground.engine !== undefined) this.containers = ground.engine(clock);
    else if (executes(this.member)) {
      this.containers = contractsOf(clock, dice, ground.contracts);
    }
    this.firstNote();
    this.inner = await createNode(config, ground.genesis, {
      patterns: patternsHere,
      contractPatterns: patternsHere,
      scheme,
      family,
      store: disk.store,
      journal: this.journal('records'),
      turns: this.journal('turns'),
      verifier: ground.verifier,
      clock,
      random: dice,
      log: this.log(),
      http: noHttp,
      network: this.host,
      files: disk.files,
      keystore,
      containers: this.containers,
      ownerKey: this.member.account.keys.privateKey,
      version: '1.1.0',
      audit: 'blocks',
      requestStop: (cause) => ground.broken(this, cause),
    });
  }

  /** Each key of a simulation has never voted before its first start. */
  private firstNote(): void {
    const { config, disk, ground, member } = this;
    const path = notePath(config);
    if (disk.files.exists(path)) return;
    const genesis = headerHash(ground.genesis.header, scheme);
    const owner = { genesis, voter: member.account.publicKey };
    disk.files.replace(path, encodeNote(FIRST_NOTE, owner, scheme));
  }

  /** It dies at this step, or at the end, of its next write of at least so many rows. */
  crashAt(step: number, rowsMin = 0): void {
    this.fatal = { step, rowsMin };
  }

  /** Nothing of `crashAt` holds any more. */
  spare(): void {
    this.fatal = undefined;
  }

  /** Ends at once: as by kill -9, or as when the power fails, which no peer is told of. */
  kill(withPower = false): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.clock.kill();
    if (withPower) this.host.vanish();
    else void this.host.close();
  }

  private write(step: number, of: number): void {
    if (!this.isAlive) throw new Crash();
    const { fatal } = this;
    if (fatal === undefined || of < fatal.rowsMin || step < Math.min(fatal.step, of)) return;
    this.kill();
    this.ground.crashed(this, of);
    throw new Crash();
  }

  /** Until it is written; what a dead node had under way never is. */
  private written(): Promise<void> {
    return new Promise((resolve) => {
      this.clock.after(this.dice.below(WRITE_MS_MAX), resolve);
    });
  }

  private journal(name: 'records' | 'turns'): Journal {
    const { disk } = this;
    return {
      recovered: [...disk[name]],
      append: async (record) => {
        const copy = record.slice();
        await this.written();
        disk[name].push(copy);
        if (name === 'turns') this.sealed(copy);
      },
      rewrite: async (records) => {
        const list = Array.from(records, (record) => record.slice());
        const before = disk[name].length;
        await this.written();
        disk[name] = [...list, ...disk[name].slice(before)];
        if (name === 'turns') this.sealed(list.at(-1)!);
      },
      close: async () => {},
    };
  }

  private sealed(record: Uint8Array): void {
    const { kind, bytes } = readRecord(record);
    if (kind === 'sealed') this.ground.seals(this, bytes);
  }

  private log(): Log {
    const at =
      (level: LogLevel) =>
      (event: string, fields: LogFields = {}) => {
        if (!this.isAlive) return;
        if (event === 'pool.dropped') {
          this.refused.add(latin1(base58.decode(String(fields['id']))));
        }
        this.ground.log(this, level, event, fields);
      };
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }
}

/** All nodes of a simulation ask one memory, so that each signature is checked once. */
export function sharedVerifier(): Verifier {
  const verdicts = new Map<string, boolean>();
  const verify = (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
    const name = latin1(key) + latin1(signature) + latin1(scheme.fastHash(message));
    let verdict = verdicts.get(name);
    if (verdict === undefined) {
      verdict = family.verify(key, message, signature);
      verdicts.set(name, verdict);
    }
    return verdict;
  };
  return {
    verifyOne: async (key, message, signature) => verify(key, message, signature),
    verify: async (items) =>
      items.map(({ publicKey, message, signature }) => verify(publicKey, message, signature)),
    close: async () => {},
  };
}
