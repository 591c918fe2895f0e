/**
 * Unconfirmed transactions (mempool.md): entries (pool-entries.ts), their admission (admission.ts), the
 * readmission of transactions that a reorganisation rolls back (readmission.ts), and their
 * departure.
 *
 * Invariants: an entry leaves only by being mined, by expiry or with a recorded reason; a new entry
 * never evicts another. Transactions of rolled-back blocks return to the pool even when it is full
 * (unsettled.ts).
 */
import { equal, latin1 } from '../base/bytes.ts';
import type { ApiError } from '../base/errors.ts';
import type { Clock, Journal, Log, Verifier } from '../base/ports.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { ProofVerdicts } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import {
  type AdmissionOptions,
  type ArrivedBytes,
  type Arriving,
  createAdmission,
} from './admission.ts';
import { type CleanupOptions, startCleanup } from './cleanup.ts';
import { Departures } from './departures.ts';
import type { PoolEntry } from './entry.ts';
import { createEntryTrial } from './entry-trial.ts';
import { watchJournalSize } from './journal-size.ts';
import type { PoolChain } from './pool-chain.ts';
import { Entries, type PoolListener } from './pool-entries.ts';
import { createReadmission } from './readmission.ts';
import { recoverEntries } from './recovery.ts';
import { type SenderLimits, Senders } from './senders.ts';
import { createSettler } from './settler.ts';
import { Unsettled } from './unsettled.ts';

export interface PoolOptions extends SenderLimits, CleanupOptions, AdmissionOptions {}

export interface PoolPorts {
  readonly scheme: ChainScheme;
  readonly state: PoolChain;
  readonly verifier: Verifier;
  readonly journal: Journal;
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
  /** The same, not decoded. */
  entry(id: Uint8Array): PoolEntry | undefined;
  /** The verdicts on the proofs of exactly these bytes, where they wait in the pool (H-18). */
  verdictsOn(tx: Tx): ProofVerdicts | undefined;
  /** Decodes entries one by one; may or may not include those that arrive or leave meanwhile. */
  list(): Iterable<Tx>;
  size(): number;
  bytes(): number;
  /** The entries in block order; the array is valid until the next change. */
  inOrder(): readonly PoolEntry[];
  decode(entry: PoolEntry): Tx;
  /** Removes the entry with this reason. After a reorganisation, a later head decides. */
  drop(entry: PoolEntry, error: ApiError): void;
  /** Why a transaction recently left the pool without being mined. */
  dropped(id: Uint8Array): string | undefined;
  removeMined(ids: Iterable<Uint8Array>): void;
  /**
   * Writes to disk the transactions of blocks that are about to be rolled back, so that a crash
   * between the two does not lose them. The next start skips those that are still in the chain.
   */
  keep(txs: Iterable<Tx>): Promise<void>;
  /** Takes back the transactions of rolled-back blocks, in their order. */
  readmit(txs: Iterable<Tx>): Promise<void>;
  /** Resolves when all rolled-back transactions are in the pool again. */
  readmitted(): Promise<void>;
  /** Restores the entries that the journal held at the last stop. */
  recover(): Promise<void>;
  listen(listener: PoolListener): () => void;
  stop(): Promise<void>;
}

export function createPool(options: PoolOptions, ports: PoolPorts): Pool {
  const { scheme, state, journal, clock, log } = ports;
  const senders = new Senders(options, state);
  const entries = new Entries(senders, log);
  const unsettled = new Unsettled();
  entries.listen({ removed: (entry) => unsettled.forget(entry) });
  const trial = createEntryTrial(scheme, state);
  const departures = new Departures(entries, unsettled, log);
  const settler = createSettler({ clock, entries, unsettled, trial, departures });
  const admission = createAdmission(options, { ...ports, entries, senders });
  const readmission = createReadmission({ ...ports, entries, unsettled });
  const trimJournal = watchJournalSize(journal, entries, readmission.underWay, log);
  const cleanup = { clock, entries, unsettled, trial, departures, afterwards: trimJournal };
  const stopCleanup = startCleanup(options, cleanup);

  /** The entries in doubt come first. The array is valid until the next change. */
  function inOrder(): readonly PoolEntry[] {
    const ordered = entries.inOrder();
    if (unsettled.size === 0) return ordered;
    return [...unsettled.entries(), ...ordered.filter((entry) => !unsettled.has(entry))];
  }

  return {
    submit: admission.submit,
    submitBytes: admission.submitBytes,
    submitAll: admission.submitAll,
    check: admission.check,
    get(id) {
      const entry = entries.get(latin1(id));
      return entry && trial.decode(entry);
    },
    entry: (id) => entries.get(latin1(id)),
    verdictsOn(tx) {
      const entry = entries.get(latin1(tx.id));
      return entry !== undefined && equal(entry.bytes, tx.bytes) ? entry.verdicts : undefined;
    },
    *list() {
      for (const entry of inOrder()) yield trial.decode(entry);
    },
    size: () => entries.size,
    bytes: () => entries.bytes,
    inOrder,
    decode: trial.decode,
    drop: (entry, error) => departures.drop(entry, error),
    dropped: (id) => departures.reasonOf(id),
    removeMined(ids) {
      for (const id of ids) {
        const entry = entries.get(latin1(id));
        if (entry !== undefined) entries.remove(entry);
      }
      void trimJournal();
      void settler.settle();
    },
    keep: readmission.keep,
    async readmit(txs) {
      unsettled.shake(entries.all());
      await readmission.readmit(txs);
      await settler.settle();
    },
    readmitted: readmission.idle,
    async recover() {
      await recoverEntries({ ...ports, entries, unsettled, admission });
      await settler.settle();
    },
    listen: (listener) => entries.listen(listener),
    async stop() {
      readmission.stop();
      stopCleanup();
      await journal.close();
    },
  };
}
