/**
 * Unconfirmed transactions (mempool.md): entries (pool-entries.ts), their admission (admission.ts), the
 * readmission of transactions that a reorganisation rolls back (readmission.ts), and their
 * eviction.
 *
 * Invariants: an entry leaves only by being mined, by expiry or with a recorded reason; a new entry
 * never evicts another. Transactions of rolled-back blocks return to the pool even when it is full
 * (reorg-candidates.ts).
 */
import { equal, latin1 } from '../base/bytes.ts';
import type { ApiError } from '../base/errors.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Journal } from '../base/ports/journal.ts';
import type { Log } from '../base/ports/log.ts';
import type { Verifier } from '../base/ports/verifier.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { ProofVerdicts } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import { decodeStoredTx } from '../tx/tx-bytes.ts';
import {
  Admission,
  type AdmissionOptions,
  type ArrivedBytes,
  type Arriving,
} from './admission/admission.ts';
import { type CleanupOptions, startCleanup } from './admission/cleanup.ts';
import { createEntryTrial } from './admission/entry-trial.ts';
import { Evictions } from './admission/evictions.ts';
import type { PoolEntry } from './entries/entry.ts';
import { Entries, type PoolListener } from './entries/pool-entries.ts';
import { type SenderLimits, Senders } from './entries/senders.ts';
import { watchJournalSize } from './journal/journal-size.ts';
import { Recovery } from './journal/recovery.ts';
import type { PoolChain } from './pool-chain.ts';
import { OtherProofs } from './reorg/other-proofs.ts';
import { Readmission } from './reorg/readmission.ts';
import { ReorgCandidates } from './reorg/reorg-candidates.ts';
import { Revalidator } from './reorg/revalidator.ts';

export interface PoolOptions extends SenderLimits, CleanupOptions, AdmissionOptions {}

export interface PoolPorts {
  readonly scheme: ChainScheme;
  readonly state: PoolChain;
  readonly verifier: Verifier;
  readonly journal: Journal;
  /** True while the disk has no room for transactions; absent: it has. */
  readonly isDiskLow?: (() => boolean) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Pool {
  submit(tx: Tx): Promise<Tx>;
  /** The same for a transaction as bytes, which are copied. Throws CodecError too. */
  submitBytes(bytes: Uint8Array, arriving?: Arriving): Promise<Tx>;
  /**
   * The same for several that arrived together. Resolves to what `submitBytes` would throw, in
   * their order; undefined for those that are in the pool.
   */
  submitAll(list: readonly ArrivedBytes[], isDoubted: boolean): Promise<readonly unknown[]>;
  /** Throws ApiError where `submit` would refuse it, apart from wrong signatures. */
  check(tx: Tx): Promise<void>;
  get(id: Uint8Array): Tx | undefined;
  /** The same, not decoded; for the id of a member, what it is a member of. */
  entry(id: Uint8Array): PoolEntry | undefined;
  /**
   * The verdicts on the proofs of exactly these bytes, where they wait in the pool (H-18: proofs
   * are not part of the id).
   */
  verdictsOn(tx: Tx): ProofVerdicts | undefined;
  /** Decodes entries one by one; may or may not include those that arrive or leave meanwhile. */
  list(): Iterable<Tx>;
  size(): number;
  bytes(): number;
  /** The entries in block order; the array is valid until the next change. */
  inOrder(): readonly PoolEntry[];
  /** Those of them that a reorganisation has put in doubt, which come first. */
  inDoubt(): Iterable<PoolEntry>;
  isInDoubt(entry: PoolEntry): boolean;
  decode(entry: PoolEntry): Tx;
  /** Removes the entry with this reason. After a reorganisation, a later head decides. */
  drop(entry: PoolEntry, error: ApiError): void;
  /**
   * The same where the rules alone refuse it on a block that is being made. After a reorganisation it
   * stays as long as heads accept it with the others in doubt.
   */
  refuse(entry: PoolEntry, error: ApiError): void;
  /** Why a transaction recently left the pool without being mined. */
  dropped(id: Uint8Array): string | undefined;
  /** Removes what a block has executed, in the form in which the pool holds it (`waitingOf`). */
  removeMined(txs: Iterable<Pick<Tx, 'id' | 'bytes'>>): void;
  /**
   * Writes to disk the transactions of blocks that are about to be rolled back, so that a crash
   * between the two does not lose them. The next start skips those that are still in the chain.
   * Throws NotKeptError: then the blocks must stay.
   */
  keep(txs: Iterable<Tx>): Promise<void>;
  /** Takes back the transactions of rolled-back blocks, in their order. */
  readmit(txs: Iterable<Tx>): Promise<void>;
  /** Resolves when all rolled-back transactions are in the pool again. */
  readmitted(): Promise<void>;
  /**
   * Takes back what the journal held at the last stop; resolves when that is done. Records count as
   * transactions of the pool as soon as they are read, and are entries once they are judged.
   */
  recover(): Promise<void>;
  /** Resolves when all records of the journal are read; undefined where they are. */
  whenRead(): Promise<void> | undefined;
  /** Resolves when no record of the journal of this sender waits to be judged; undefined where none does. */
  settled(sender: Uint8Array): Promise<void> | undefined;
  /** True where a record with this hash of its bytes waits to be judged. */
  recovers(bytesHash: string): boolean;
  listen(listener: PoolListener): () => void;
  stop(): Promise<void>;
}

export function createPool(options: PoolOptions, ports: PoolPorts): Pool {
  const parts = connected(options, ports);
  const { entries, candidates, trial, evictions, revalidator, admission } = parts;
  const { readmission, size, recovery } = parts;
  let stopped = false;

  const inOrder = (): readonly PoolEntry[] => ordered(entries, candidates);

  return {
    submit: (tx) => admission.submit(tx),
    submitBytes: (bytes, arriving) => admission.submitBytes(bytes, arriving),
    submitAll: (list, isDoubted) => admission.submitAll(list, isDoubted),
    check: (tx) => admission.check(tx),
    get(id) {
      const key = latin1(id);
      const entry = entries.get(key);
      if (entry !== undefined) return trial.decode(entry);
      const record = recovery.get(key);
      return record && decodeStoredTx(record, ports.scheme, id);
    },
    entry: (id) => entries.with(latin1(id)),
    verdictsOn(tx) {
      const entry = entries.get(latin1(tx.id));
      return entry !== undefined && equal(entry.bytes, tx.bytes) ? entry.verdicts : undefined;
    },
    *list() {
      const records = recovery.underWay();
      // A copy, where records may become entries before the end of the list.
      const all = records.length === 0 ? inOrder() : [...inOrder()];
      for (const entry of all) yield trial.decode(entry);
      for (const record of records) yield decodeStoredTx(record, ports.scheme);
    },
    size: () => entries.size + recovery.size,
    bytes: () => entries.bytes + recovery.bytes,
    inOrder,
    inDoubt: () => candidates.entries(),
    isInDoubt: (entry) => candidates.has(entry),
    decode: trial.decode,
    drop: (entry, error) => evictions.drop(entry, error),
    refuse: (entry, error) => evictions.refuse(entry, error),
    dropped: (id) => evictions.reasonOf(id),
    removeMined(txs) {
      removeAll(txs, parts);
      void size.trim();
      void revalidator.revalidate();
    },
    keep: (txs) => readmission.keep(txs),
    async readmit(txs) {
      candidates.markSuspect(entries.all());
      await readmission.readmit(txs);
      await readmission.recheck();
      if (!stopped) await revalidator.revalidate();
    },
    readmitted: () => readmission.idle(),
    async recover() {
      await recovery.run();
      if (!stopped) await revalidator.revalidate();
    },
    whenRead: () => recovery.whenRead(),
    settled: (sender) => recovery.older('', latin1(sender)),
    recovers: (bytesHash) => recovery.holds(bytesHash),
    listen: (listener) => entries.listen(listener),
    async stop() {
      stopped = true;
      await parts.stop();
    },
  };
}

/** Notes what the pool had with other proofs than the block. */
function removeAll(
  mined: Iterable<Pick<Tx, 'id' | 'bytes'>>,
  { entries, otherProofs }: { readonly entries: Entries; readonly otherProofs: OtherProofs },
): void {
  for (const { id, bytes } of mined) {
    const entry = entries.get(latin1(id));
    if (entry === undefined) continue;
    if (!equal(entry.bytes, bytes)) otherProofs.note(entry.key, entry.bytes);
    entries.remove(entry);
  }
}

/** The entries in doubt come first. The array is valid until the next change. */
function ordered(entries: Entries, candidates: ReorgCandidates): readonly PoolEntry[] {
  const all = entries.inOrder();
  if (candidates.size === 0) return all;
  return [...candidates.entries(), ...all.filter((entry) => !candidates.has(entry))];
}

/** The parts of the pool, each with what it needs of the others. */
function connected(options: PoolOptions, ports: PoolPorts) {
  const { scheme, state, journal, clock, log } = ports;
  const senders = new Senders(options, state);
  const entries = new Entries(senders, log);
  const candidates = new ReorgCandidates();
  entries.listen({ removed: (entry) => candidates.forget(entry) });
  const trial = createEntryTrial(scheme, state);
  const evictions = new Evictions(entries, candidates, log);
  const revalidator = new Revalidator({ clock, log, entries, candidates, trial, evictions });
  const recovering = (key: string, sender: string) => recovery.older(key, sender);
  const admission: Admission = new Admission(options, { ...ports, entries, senders, recovering });
  const otherProofs = new OtherProofs();
  const returning = { entries, candidates, otherProofs, decode: trial.decode };
  const shorten = () => size.rewrite();
  const readmission = new Readmission({ ...ports, ...returning, shorten });
  const beside = {
    older: () => recovery.unjudged(),
    underWay: () => readmission.underWay(),
    order: () => [...readmission.order(), ...candidates.order(), ...recovery.order()],
  };
  const size = watchJournalSize(journal, entries, beside, log);
  const rewrite = async () => void (await size.rewrite());
  const recovery = new Recovery({ ...ports, entries, senders, candidates, admission, rewrite });
  const cleanup = { clock, log, entries, candidates, trial, evictions, afterwards: size.trim };
  const stopCleanup = startCleanup(options, cleanup);
  return {
    entries,
    candidates,
    trial,
    evictions,
    revalidator,
    admission,
    otherProofs,
    readmission,
    size,
    recovery,
    async stop(): Promise<void> {
      readmission.stop();
      recovery.stop();
      stopCleanup();
      await journal.close();
    },
  };
}
