/**
 * Takes the transactions of the journal back into the pool after a start, while the node works. The
 * file may hold records of another release, and the state has changed since they were written. So a
 * record is judged like a transaction that arrives: its proofs are checked, and then the state.
 *
 * Invariants: a record is on disk until it is an entry, mined, or refused with a recorded reason, so
 * a crash at any moment loses none; as soon as the records are read, each is found by its id; no
 * transaction overtakes an older one of its sender, or takes its id; of two records with one id, the
 * later one was the last that the pool held, and it alone counts. Records that came back from
 * rolled-back blocks (return-order.ts) are judged first, in the order of their chain, and are in doubt
 * (reorg-candidates.ts). Others that the head refuses are in doubt as well, since they may build on these.
 */
import { isOurs } from '../../base/assert.ts';
import { base58 } from '../../base/base58.ts';
import { equal, fromLatin1, latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Journal } from '../../base/ports/journal.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { refusalFrom } from '../../codec/refusal.ts';
import { Alarm } from '../../concurrency/alarm.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { type CheckedTx, ProofChecks } from '../../tx/proof-verdicts.ts';
import type { Tx } from '../../tx/transaction.ts';
import { decodeStoredTx, decodeTx } from '../../tx/tx-bytes.ts';
import type { Admission } from '../admission/admission.ts';
import { PoolEntry, textsOf } from '../entries/entry.ts';
import type { Entries } from '../entries/pool-entries.ts';
import type { Senders } from '../entries/senders.ts';
import { NOTHING_SPENT } from '../entries/spending.ts';
import type { PoolChain } from '../pool-chain.ts';
import type { ReorgCandidates } from '../reorg/reorg-candidates.ts';
import { isOrderRecord, orderIn } from './return-order.ts';

export interface RecoveryPorts {
  readonly scheme: ChainScheme;
  readonly state: Pick<PoolChain, 'isMined' | 'planChecks'>;
  readonly verifier: Pick<Verifier, 'verify'>;
  readonly journal: Pick<Journal, 'recovered'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly entries: Entries;
  readonly senders: Pick<Senders, 'reserve'>;
  readonly candidates: ReorgCandidates;
  readonly admission: Pick<Admission, 'acceptAgain'>;
  /** Leaves only those records in the journal that the pool needs. */
  readonly rewrite: () => Promise<void>;
}

/** A record that is not judged yet. Its id is its key. */
interface Waiting {
  readonly bytes: Uint8Array;
  readonly sender: string;
  readonly bytesHash: string;
}

/** The records of a sender that wait. */
interface OfSender {
  left: number;
  /** Made where somebody waits for their end. */
  done: PromiseWithResolvers<void> | undefined;
}

const nothing = (): void => {};

/** Records whose proofs are checked as one job, or fewer where they have more bytes than this. */
const GROUP_MAX = 128;
const GROUP_BYTES = 1024 * 1024;
/** Before a check that the verifier had no room for is tried again. */
const RETRY_MS = 100;

export class Recovery {
  private readonly ports: RecoveryPorts;
  private readonly waiting = new Map<string, Waiting>();
  private readonly hashes = new Set<string>();
  private readonly senders = new Map<string, OfSender>();
  private readonly accepted: PoolEntry[] = [];
  private readonly refused: CheckedTx[] = [];
  /** The ids of what rolled-back blocks held, in the order of their chain. */
  private readonly returned = new Set<string>();
  /** The number of records that the head has refused. */
  private doubted = 0;
  /** Records that need not stay in the journal. */
  private useless = 0;
  /** The number of records that were read. */
  private count = 0;
  /** Those of them that name an order, and no transaction to judge. */
  private orders = 0;
  private reading: Promise<void> | undefined;
  private stopped = false;
  private readonly pause: Alarm;
  /** The bytes of the records that wait. */
  bytes = 0;

  constructor(ports: RecoveryPorts) {
    this.ports = ports;
    this.pause = new Alarm(ports.clock);
  }

  /**
   * Resolves when every record is an entry or has no place in the pool. After a failure, those that
   * wait stay in the journal until the next start.
   */
  async run(): Promise<void> {
    try {
      const reading = this.read();
      this.reading = reading.catch(nothing);
      await reading;
      this.reading = undefined;
      await this.joinAll();
    } catch (cause) {
      if (isOurs(cause)) throw cause;
      this.ports.log.error('pool.recovery-failed', { why: String(cause) });
      this.reading = undefined;
      this.stop();
    }
    if (this.stopped) return;
    this.putInDoubt();
    const records = this.ports.journal.recovered.length - this.orders;
    const { doubted } = this;
    const accepted = this.accepted.length;
    if (records > 0) this.ports.log.info('pool.recovered', { records, accepted, doubted });
    this.accepted.length = 0;
    this.refused.length = 0;
    this.returned.clear();
    if (this.useless > 0) await this.ports.rewrite();
  }

  /** Resolves when the records can be found; undefined where they can. */
  whenRead(): Promise<void> | undefined {
    return this.reading;
  }

  /**
   * Resolves when no record waits that is older than a transaction with this id and sender;
   * undefined where none does.
   */
  older(key: string, sender: string): Promise<void> | undefined {
    if (this.reading !== undefined) return this.reading.then(() => this.older(key, sender));
    if (this.waiting.size === 0 || this.stopped) return undefined;
    const { senders } = this;
    const first = senders.get(sender) ?? senders.get(this.waiting.get(key)?.sender ?? '');
    if (first === undefined) return undefined;
    first.done ??= Promise.withResolvers();
    return first.done.promise.then(() => this.older(key, sender));
  }

  /** The number of records that wait. */
  get size(): number {
    return this.waiting.size;
  }

  /** The bytes of a record that waits. */
  get(key: string): Uint8Array | undefined {
    return this.waiting.get(key)?.bytes;
  }

  /** True where a record with this hash of its bytes waits. */
  holds(bytesHash: string): boolean {
    return this.hashes.has(bytesHash);
  }

  /** The bytes of all that wait. */
  underWay(): Uint8Array[] {
    return Array.from(this.waiting.values(), ({ bytes }) => bytes);
  }

  /** The records that a rewritten journal must still hold, in front of those of the entries. */
  unjudged(): Uint8Array[] {
    return [...this.underWay(), ...this.ports.journal.recovered.slice(this.count)];
  }

  /** The ids of records that wait and came back from rolled-back blocks, in the order of their chain. */
  order(): string[] {
    // What these name may stand behind the last record that was read.
    const isRead = this.count === this.ports.journal.recovered.length;
    return [...this.returned].filter((key) => !isRead || this.waiting.has(key));
  }

  /** What waits stays in the journal until the next start. */
  stop(): void {
    this.stopped = true;
    this.pause.ring();
    for (const { done } of this.senders.values()) done?.resolve();
  }

  private async read(): Promise<void> {
    const { journal, clock } = this.ports;
    const slice = new TimeSlice(clock);
    for (const key of orderIn(journal.recovered)) {
      this.returned.add(key);
      if (slice.isOver()) await slice.yield();
    }
    for (const record of journal.recovered) {
      if (this.stopped) return;
      if (isOrderRecord(record)) this.orders++;
      else this.take(record);
      this.count++;
      if (slice.isOver()) await slice.yield();
    }
  }

  private take(record: Uint8Array): void {
    const { state, senders } = this.ports;
    const tx = this.readRecord(record);
    // Most are mined, since the journal is trimmed now and then only. Some stand there twice.
    if (tx === undefined || state.isMined(tx.id) || !this.replaces(tx)) {
      this.useless++;
    } else {
      this.note(tx);
      senders.reserve(tx.bytes.length);
    }
  }

  /**
   * Drops an earlier record with the same id. That one had left the pool, with other proofs, when
   * this one was acknowledged. False where they are the same.
   */
  private replaces({ id, bytes }: Tx): boolean {
    const key = latin1(id);
    const earlier = this.waiting.get(key);
    if (earlier === undefined) return true;
    if (equal(earlier.bytes, bytes)) return false;
    this.useless++;
    this.ports.senders.reserve(-earlier.bytes.length);
    this.settle(key);
    return true;
  }

  private note(tx: Tx): void {
    const { key, sender } = textsOf(tx);
    const { bytes } = tx;
    const bytesHash = latin1(this.ports.scheme.fastHash(bytes));
    this.waiting.set(key, { bytes, sender, bytesHash });
    this.hashes.add(bytesHash);
    this.bytes += bytes.length;
    const of = this.senders.get(sender);
    if (of === undefined) this.senders.set(sender, { left: 1, done: undefined });
    else of.left++;
  }

  /** The record is an entry, or has no place in the pool. */
  private settle(key: string): void {
    const one = this.waiting.get(key);
    if (one === undefined) return;
    this.waiting.delete(key);
    this.hashes.delete(one.bytesHash);
    this.bytes -= one.bytes.length;
    const of = this.senders.get(one.sender);
    if (of === undefined || --of.left > 0) return;
    this.senders.delete(one.sender);
    of.done?.resolve();
  }

  private async joinAll(): Promise<void> {
    const groups = groupsOf(this.inTurn());
    const slice = new TimeSlice(this.ports.clock);
    // The proofs of the next ones are checked while these are judged.
    let next = this.ask(groups.next());
    for (let group = await next; group.length > 0; group = await next) {
      next = this.ask(groups.next());
      // It is awaited later; an earlier rejection must not end the process.
      next.catch(nothing);
      for (const one of group) {
        if (slice.isOver()) await slice.yield();
        if (this.stopped) return;
        await this.join(one);
      }
    }
  }

  /** Those that came back first, since they were in the chain before all others. */
  private inTurn(): (readonly [string, Waiting])[] {
    const first: (readonly [string, Waiting])[] = [];
    for (const key of this.returned) {
      const record = this.waiting.get(key);
      if (record !== undefined) first.push([key, record]);
    }
    return [...first, ...[...this.waiting].filter(([key]) => !this.returned.has(key))];
  }

  /** Checks the proofs of a group; empty after the last one. */
  private async ask(group: IteratorResult<readonly string[], undefined>): Promise<CheckedTx[]> {
    if (group.done === true || this.stopped) return [];
    const { scheme, state, verifier, clock, log } = this.ports;
    const checks = new ProofChecks();
    const slice = new TimeSlice(clock);
    const txs: Tx[] = [];
    for (const key of group.value) {
      const tx = decodeStoredTx(this.waiting.get(key)!.bytes, scheme, fromLatin1(key));
      checks.add(tx, await state.planChecks(tx));
      txs.push(tx);
      // Reading scripts takes milliseconds.
      if (slice.isOver()) await slice.yield();
    }
    for (;;) {
      try {
        await checks.ask(verifier);
        return txs.map((tx, i) => ({ tx, verdicts: checks.verdicts(i) }));
      } catch (cause) {
        if (this.stopped) return [];
        if (isOurs(cause)) throw cause;
        log.warn('pool.recovery-waits', { why: String(cause) });
      }
      await this.pause.wait(RETRY_MS);
      if (this.stopped) return [];
    }
  }

  private async join(checked: CheckedTx): Promise<void> {
    const { state, entries, senders, admission, candidates } = this.ports;
    const { tx, verdicts } = checked;
    const key = latin1(tx.id);
    senders.reserve(-tx.bytes.length);
    // A block or a reorganisation was faster.
    if (entries.get(key) !== undefined || state.isMined(tx.id)) {
      this.useless++;
      this.settle(key);
      return;
    }
    try {
      const texts = { ...textsOf(tx), bytesHash: this.waiting.get(key)?.bytesHash };
      const entry = await admission.acceptAgain(tx, texts, verdicts, (accepted) => {
        if (this.returned.has(key)) candidates.putLast(accepted);
      });
      this.settle(key);
      // While it waited for other scripts, a reorganisation may have been faster.
      if (!entry.holds(tx.bytes)) return;
      this.accepted.push(entry);
      entries.announce(entry);
    } catch (error) {
      // Throws what is a fault of this node.
      refusalFrom(error);
      this.doubted++;
      if (this.returned.has(key)) return this.doubt(checked);
      senders.reserve(tx.bytes.length);
      this.refused.push(checked);
    }
  }

  /** One that the head refuses may build on any other, so that all are judged together. */
  private putInDoubt(): void {
    const { senders, candidates } = this.ports;
    if (this.refused.length === 0) return;
    for (const entry of this.accepted) if (!entry.removed) candidates.putLast(entry);
    for (const checked of this.refused) {
      senders.reserve(-checked.tx.bytes.length);
      this.doubt(checked);
    }
  }

  private doubt({ tx, verdicts }: CheckedTx): void {
    const { state, entries, candidates } = this.ports;
    const texts = textsOf(tx);
    if (entries.get(texts.key) === undefined && !state.isMined(tx.id)) {
      const entry = new PoolEntry(tx, texts, verdicts, NOTHING_SPENT, false);
      entries.put(entry);
      candidates.putLast(entry);
    }
    this.settle(texts.key);
  }

  /** A record of another release may not decode. The log says so, since it was acknowledged. */
  private readRecord(record: Uint8Array): Tx | undefined {
    const { scheme, log } = this.ports;
    try {
      return decodeTx(record, scheme);
    } catch (cause) {
      const why = refusalFrom(cause).message;
      log.error('pool.record-skipped', { hash: base58.encode(scheme.fastHash(record)), why });
      return undefined;
    }
  }
}

function* groupsOf(
  records: readonly (readonly [string, Waiting])[],
): Generator<readonly string[], undefined> {
  let group: string[] = [];
  let bytes = 0;
  for (const [key, record] of records) {
    group.push(key);
    bytes += record.bytes.length;
    if (group.length < GROUP_MAX && bytes < GROUP_BYTES) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}
