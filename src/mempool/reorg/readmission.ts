/**
 * Returns transactions to the pool when a reorganisation rolls back their blocks.
 *
 * Invariants: they and their order are in the journal from before the rollback until they are entries
 * of the pool, so a crash at any moment loses neither, and what the journal cannot take is not rolled
 * back. What the pool held with other proofs than the block comes back with its own. Nothing that was
 * known about their proofs serves again: a script may have judged them in the block, and the new branch
 * may have none. They are checked by other threads, and until then by whoever judges the entry.
 */
import { isOurs } from '../../base/assert.ts';
import { equal, latin1 } from '../../base/bytes.ts';
import { JournalTooLongError } from '../../base/faults/journal-full.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Journal } from '../../base/ports/journal.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { Mutex } from '../../concurrency/mutex.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { ProofChecks, unchecked } from '../../tx/proof-verdicts.ts';
import type { Tx } from '../../tx/transaction.ts';
import { decodeStoredTx } from '../../tx/tx-bytes.ts';
import { PoolEntry, textsOf } from '../entries/entry.ts';
import type { Entries } from '../entries/pool-entries.ts';
import { NOTHING_SPENT } from '../entries/spending.ts';
import { appendInPortions, NotKeptError } from '../journal/journal-portions.ts';
import { orderRecords } from '../journal/return-order.ts';
import type { PoolChain } from '../pool-chain.ts';
import type { OtherProofs } from './other-proofs.ts';
import type { ReorgCandidates } from './reorg-candidates.ts';

export interface ReadmissionDeps {
  readonly scheme: ChainScheme;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  readonly state: Pick<PoolChain, 'isMined' | 'planChecks'>;
  readonly verifier: Pick<Verifier, 'verify'>;
  readonly decode: (entry: PoolEntry) => Tx;
  readonly entries: Entries;
  readonly candidates: ReorgCandidates;
  readonly otherProofs: OtherProofs;
  /** Rewrites the journal, with what is `underWay` here. False where that failed. */
  readonly shorten: () => Promise<boolean>;
}

/** Entries whose proofs are checked as one job. */
const GROUP_MAX = 128;

export class Readmission {
  readonly #deps: ReadmissionDeps;
  /**
   * Records on disk, by id in the order of the chain, of transactions whose blocks are still in it.
   * Where the rollback fails, the next attempt finds them there, so that attempts do not fill the disk.
   */
  #kept: ReadonlyMap<string, Uint8Array> = new Map();
  readonly #returning = new Set<Iterable<Tx>>();
  readonly #returns = new Mutex();
  /** Entries whose proofs nobody has checked. */
  readonly #unproven: PoolEntry[] = [];
  #checking: Promise<void> | undefined;
  #stopped = false;

  constructor(deps: ReadmissionDeps) {
    this.#deps = deps;
  }

  /**
   * Called before the blocks are rolled back. Throws NotKeptError: then they must stay in the chain.
   */
  async keep(txs: Iterable<Tx>): Promise<void> {
    const { journal, clock, log, shorten } = this.#deps;
    const before = this.#kept;
    // A journal that is rewritten meanwhile must hold all of them.
    const wanted = new Map(this.#ownRecords(txs));
    this.#kept = wanted;
    const lacking = [...wanted].filter(([key, record]) => !isSame(before.get(key), record));
    const keys = [...wanted.keys()];
    const order = isSameOrder(keys, [...before.keys()]) ? [] : orderRecords(keys);
    let written = 0;
    const landed = (count: number): void => {
      written += count;
    };
    try {
      const records = [...order, ...lacking.map(([, record]) => record)];
      await appendInPortions(records, { journal, clock, landed });
    } catch (cause) {
      // What is dead in the file makes room, and then all of these stand there.
      if (isTooLong(cause) && (await shorten())) return;
      const landedTxs = Math.max(0, written - order.length);
      for (const [key] of lacking.slice(landedTxs)) wanted.delete(key);
      log.error('pool.journal-failed', { why: String(cause) });
      throw cause;
    }
  }

  /** Called after the rollback, with the transactions that `keep` received. */
  readmit(txs: Iterable<Tx>): Promise<void> {
    this.#kept = new Map();
    this.#returning.add(txs);
    return this.#returns.run(() => this.#putBack(txs));
  }

  /** Checks the proofs of those that came back; resolves after the last of them. */
  recheck(): Promise<void> {
    this.#checking ??= this.#checkAll().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Resolves when no transaction is on its way. */
  idle(): Promise<void> {
    return this.#returns.idle();
  }

  /** The records that a rewritten journal must still hold. */
  underWay(): Uint8Array[] {
    const returning = [...this.#returning].flatMap((txs) => this.#ownRecords(txs));
    return [...this.#kept.values(), ...returning.map(([, record]) => record)];
  }

  /** The ids of these records as Latin-1 texts, in the order of the chain. */
  order(): string[] {
    // A later rollback takes back blocks below those of the earlier ones.
    const returning = [...this.#returning].toReversed();
    return [
      ...this.#kept.keys(),
      ...returning.flatMap((txs) => Array.from(recordsOf(txs), ([key]) => key)),
    ];
  }

  /** Transactions that arrive after this stay in the journal until the next start. */
  stop(): void {
    this.#stopped = true;
  }

  async #putBack(txs: Iterable<Tx>): Promise<void> {
    const slice = new TimeSlice(this.#deps.clock);
    const returned: PoolEntry[] = [];
    for (const mined of txs) {
      if (slice.isOver()) await slice.yield();
      const tx = this.#ownOf(waitingOf(mined));
      if (this.#stopped || tx.def.internal || this.#deps.state.isMined(tx.id)) continue;
      // A client, a peer or the journal may have brought it meanwhile: its place is here all the same.
      returned.push(this.#deps.entries.get(latin1(tx.id)) ?? this.#put(tx));
    }
    this.#deps.candidates.putFirst(returned.filter((entry) => !entry.removed));
    this.#returning.delete(txs);
  }

  /** With the proofs that the pool had. */
  #ownOf(tx: Tx): Tx {
    const own = this.#deps.otherProofs.get(latin1(tx.id));
    return own === undefined ? tx : decodeStoredTx(own, this.#deps.scheme, tx.id);
  }

  #ownRecords(txs: Iterable<Tx>): [string, Uint8Array][] {
    const { otherProofs } = this.#deps;
    return Array.from(recordsOf(txs), ([key, record]) => [key, otherProofs.get(key) ?? record]);
  }

  #put(tx: Tx): PoolEntry {
    const { entries, otherProofs, candidates } = this.#deps;
    // The bytes are part of a block, which must not stay in memory.
    const own = { ...tx, bytes: tx.bytes.slice() };
    const entry = new PoolEntry(own, textsOf(tx), unchecked(own), NOTHING_SPENT, true);
    entries.put(entry);
    otherProofs.forget(entry.key);
    this.#unproven.push(entry);
    candidates.markSuspect([entry]);
    return entry;
  }

  async #checkAll(): Promise<void> {
    while (this.#unproven.length > 0 && !this.#stopped) {
      await this.#check(this.#unproven.splice(0, GROUP_MAX));
      await this.#deps.clock.turn();
    }
  }

  async #check(group: readonly PoolEntry[]): Promise<void> {
    const { clock, state, verifier, log, decode } = this.#deps;
    const slice = new TimeSlice(clock);
    const waiting: PoolEntry[] = [];
    const checks = new ProofChecks();
    try {
      for (const entry of group) {
        if (entry.removed) continue;
        const tx = decode(entry);
        checks.add(tx, await state.planChecks(tx));
        waiting.push(entry);
        // Reading scripts takes milliseconds.
        if (slice.isOver()) await slice.yield();
      }
      await checks.ask(verifier);
    } catch (cause) {
      // Whoever judges them makes the checks.
      if (isOurs(cause)) throw cause;
      log.warn('pool.recheck-failed', { why: String(cause) });
      return;
    }
    for (const [i, entry] of waiting.entries()) entry.learn(checks.verdicts(i));
  }
}

/**
 * The transaction that the pool holds for a mined one: inside a result, that which it executed; for
 * an atomic one, that without the signature of the generator.
 */
export const waitingOf = (mined: Tx): Tx =>
  mined.def.inner?.(mined) ?? mined.def.waiting?.(mined) ?? mined;

/** What the journal holds for mined transactions, by id; nothing for those that only blocks have. */
export function* recordsOf(mined: Iterable<Tx>): Generator<[key: string, record: Uint8Array]> {
  for (const one of mined) {
    const { def, id, bytes } = waitingOf(one);
    if (!def.internal) yield [latin1(id), bytes];
  }
}

const isTooLong = (cause: unknown): boolean =>
  cause instanceof NotKeptError && cause.cause instanceof JournalTooLongError;

const isSameOrder = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((key, i) => key === other[i]);

const isSame = (one: Uint8Array | undefined, other: Uint8Array): boolean =>
  one !== undefined && equal(one, other);
