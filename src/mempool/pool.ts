/**
 * Unconfirmed transactions (protocol.md §7).
 *
 * Invariants: an entry was valid on the head when it came in, together with what its sender has in
 * the pool already; it is on disk before `submit` resolves; it leaves only by being mined, by
 * expiry or with a recorded reason; nothing is evicted for a newcomer. Entries are kept as bytes,
 * since an object for each field would cost ten times the memory.
 */
import { base58 } from '../base/base58.ts';
import { equal, latin1 } from '../base/bytes.ts';
import { ApiError, apiError, refused } from '../base/errors.ts';
import type { Clock, Journal, Log, Verifier } from '../base/ports.ts';
import { Recent } from '../base/recent.ts';
import type { Chain } from '../codec/codec.ts';
import { decodeTx } from '../tx/bytes.ts';
import { invalidSignature } from '../tx/pipeline.ts';
import { signaturesOf } from '../tx/signatures.ts';
import type { Tx } from '../tx/transaction.ts';
import { type Ordered, TimeOrder } from './order.ts';
import { type Funds, type SenderLimits, Senders } from './senders.ts';
import type { Spending } from './spending.ts';

export interface PoolOptions extends SenderLimits {
  readonly expireMs: number;
  readonly cleanupMs: number;
}

/** What the pool asks of the chain. */
export interface PoolChain extends Funds {
  /**
   * Validates on top of the head as if in the next block, without leaving a trace, and says what
   * it takes from the sender. Throws ApiError.
   */
  tryApply(tx: Tx): Spending;
  /** True where a block of the chain has it. */
  isMined(id: Uint8Array): boolean;
}

export interface PoolPorts {
  readonly chain: Chain;
  readonly state: PoolChain;
  readonly verifier: Verifier;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
}

export interface PoolEntry extends Ordered {
  readonly bytes: Uint8Array;
  readonly id: Uint8Array;
  readonly sender: string;
  readonly spending: Spending;
  /** Hash of the bytes as Latin-1 text, once somebody has asked for it (bytes-index.ts). */
  bytesHash: string | undefined;
}

export interface PoolListener {
  /** The entry passed all checks and is on disk. */
  added?(entry: PoolEntry): void;
  removed?(entry: PoolEntry): void;
}

const DROPPED_MAX = 10_000;
const REVALIDATED_PER_TURN = 200;
const JOURNAL_SLACK_BYTES = 8 * 1024 * 1024;

export interface Pool {
  submit(tx: Tx): Promise<Tx>;
  /** Throws ApiError where `submit` would refuse it, wrong signatures aside. */
  check(tx: Tx): void;
  get(id: Uint8Array): Tx | undefined;
  /** True if exactly these bytes passed all checks already, signatures included (H-18). */
  holds(tx: Tx): boolean;
  list(): readonly Tx[];
  size(): number;
  bytes(): number;
  /** Entries in block order; the array is valid until the next change. */
  inOrder(): readonly PoolEntry[];
  decode(entry: PoolEntry): Tx;
  drop(entry: PoolEntry, error: ApiError): void;
  /** Why a transaction left the pool unmined, if that was recently. */
  dropped(id: Uint8Array): string | undefined;
  removeMined(ids: Iterable<Uint8Array>): void;
  /**
   * Writes to disk what is about to fall out of the chain, so that a crash between the two does not
   * lose it; a transaction that is still in the chain at the next start is skipped then.
   */
  keep(txs: Iterable<Tx>): Promise<void>;
  /** Transactions of blocks that were rolled back come again, validated anew. */
  readmit(txs: Iterable<Tx>): Promise<void>;
  /** Re-admits what the journal held at the last stop. */
  recover(): Promise<void>;
  listen(listener: PoolListener): () => void;
  stop(): Promise<void>;
}

export function createPool(options: PoolOptions, ports: PoolPorts): Pool {
  const { chain, state, verifier, journal, clock, log } = ports;
  const entries = new Map<string, PoolEntry>();
  const order = new TimeOrder<PoolEntry>();
  const senders = new Senders(options, state);
  const arriving = new Map<string, Promise<Tx>>();
  const dropped = new Recent<string, string>(DROPPED_MAX);
  const listeners = new Set<PoolListener>();
  let journalBytes = 0;
  let stopped = false;
  let cancelCleanup = clock.after(options.cleanupMs, cleanup);

  async function submit(tx: Tx): Promise<Tx> {
    // First: while it is on its way to the disk it is among the entries already. By all its bytes,
    // so that a copy with a wrong proof does not decide about the good one (H-18).
    const bytes = latin1(tx.bytes);
    const running = arriving.get(bytes);
    if (running !== undefined) return running;
    const arrival = admit(tx, latin1(tx.id), true);
    arriving.set(bytes, arrival);
    try {
      return await arrival;
    } finally {
      arriving.delete(bytes);
    }
  }

  async function admit(tx: Tx, key: string, checkSignature: boolean): Promise<Tx> {
    if (tx.def.internal) {
      throw apiError('Invalid', `Bad transaction type (${tx.type}) and version (${tx.version})`);
    }
    const sender = latin1(tx.sender);
    const known = entries.get(key);
    if (known !== undefined) return earlier(known, sender);
    senders.requireRoom(tx.bytes.length, sender);
    if (checkSignature && !(await areSignaturesValid(tx))) throw invalidSignature(tx);
    // One with other proofs may have come in meanwhile: the first one stays.
    const rival = entries.get(key);
    if (rival !== undefined) return earlier(rival, sender);
    const entry = insert(tx, key, sender);
    try {
      await journal.append(tx.bytes);
    } catch (cause) {
      remove(entry);
      log.error('pool.journal-failed', { why: String(cause) });
      throw apiError('StatusCheckFailed', 'the pool cannot be written to disk');
    }
    if (!entry.removed) tellAdded(entry);
    return tx;
  }

  /** The entry that has this id already. Ids of aliases do not tell senders apart. */
  function earlier(known: PoolEntry, sender: string): Tx {
    if (known.sender !== sender) throw refused('Alias already claimed');
    return decode(known);
  }

  /** Those it carries too. A number of proofs other than one is refused by the rules. */
  async function areSignaturesValid(tx: Tx): Promise<boolean> {
    const verdicts = await Promise.all(
      signaturesOf(tx).map((of) => verifier.verifyOne(of.publicKey, of.message, of.signature)),
    );
    return verdicts.every(Boolean);
  }

  function tellAdded(entry: PoolEntry): void {
    for (const listener of listeners) listener.added?.(entry);
  }

  function check(tx: Tx, sender: string): Spending {
    const spending = state.tryApply(tx);
    senders.requireRoom(tx.bytes.length, sender);
    senders.requireFunds(tx, sender, spending);
    return spending;
  }

  function insert(tx: Tx, key: string, sender: string): PoolEntry {
    // Others may have filled the pool while the signature was being checked.
    const spending = check(tx, sender);
    const entry: PoolEntry = {
      key,
      id: tx.id,
      bytes: tx.bytes.slice(),
      timestamp: tx.timestamp,
      sender,
      spending,
      bytesHash: undefined,
      removed: false,
    };
    entries.set(key, entry);
    order.add(entry);
    senders.add(entry);
    return entry;
  }

  function remove(entry: PoolEntry): void {
    if (!entries.delete(entry.key)) return;
    order.remove(entry);
    senders.remove(entry);
    journalBytes += entry.bytes.length;
    for (const listener of listeners) listener.removed?.(entry);
  }

  function drop(entry: PoolEntry, error: ApiError): void {
    remove(entry);
    noteDropped(entry.id, error);
  }

  function noteDropped(id: Uint8Array, error: ApiError): void {
    dropped.set(latin1(id), error.message);
    log.info('pool.dropped', { id: base58.encode(id), why: error.message });
  }

  function decode(entry: PoolEntry): Tx {
    return decodeTx(entry.bytes, chain);
  }

  async function cleanup(): Promise<void> {
    const now = clock.now();
    let inTurn = 0;
    for (const entry of [...order.inOrder()]) {
      if (stopped) return;
      if (entry.removed) continue;
      if (now - entry.timestamp > options.expireMs) {
        drop(entry, apiError('Mistiming', `Transaction ts ${entry.timestamp} is too old`));
        continue;
      }
      try {
        state.tryApply(decode(entry));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        drop(entry, error);
      }
      if (++inTurn % REVALIDATED_PER_TURN === 0) await clock.turn();
    }
    await trimJournal();
    if (!stopped) cancelCleanup = clock.after(options.cleanupMs, cleanup);
  }

  /** The journal keeps what has left the pool until that outweighs what is still in it. */
  async function trimJournal(): Promise<void> {
    if (journalBytes < JOURNAL_SLACK_BYTES || journalBytes < senders.bytes) return;
    journalBytes = 0;
    try {
      await journal.rewrite([...order.inOrder()].map((entry) => entry.bytes));
    } catch (cause) {
      // The old file still holds all that was promised, and the next block tries again.
      log.error('pool.journal-failed', { why: String(cause) });
    }
  }

  async function keep(txs: Iterable<Tx>): Promise<void> {
    try {
      await Promise.all(Array.from(txs, (tx) => journal.append(waitingOf(tx).bytes)));
    } catch (cause) {
      log.error('pool.journal-failed', { why: String(cause) });
    }
  }

  async function readmit(txs: Iterable<Tx>): Promise<void> {
    let running: Promise<void>[] = [];
    for (const mined of txs) {
      const tx = waitingOf(mined);
      const key = latin1(tx.id);
      if (tx.def.internal || entries.has(key)) continue;
      running.push(readmitOne(tx, key));
      if (running.length < REVALIDATED_PER_TURN) continue;
      // They share a sync of the disk.
      await Promise.all(running);
      running = [];
    }
    await Promise.all(running);
  }

  async function readmitOne(tx: Tx, key: string): Promise<void> {
    try {
      await admit(tx, key, false);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      noteDropped(tx.id, error);
    }
  }

  async function recover(): Promise<void> {
    const kept: Uint8Array[] = [];
    let inTurn = 0;
    for (const record of journal.recovered) {
      const tx = decodeTx(record, chain);
      const key = latin1(tx.id);
      if (++inTurn % REVALIDATED_PER_TURN === 0) await clock.turn();
      // Most of it, since the journal is trimmed now and then only.
      if (entries.has(key) || state.isMined(tx.id)) continue;
      try {
        tellAdded(insert(tx, key, latin1(tx.sender)));
        kept.push(record);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        noteDropped(tx.id, error);
      }
    }
    if (kept.length !== journal.recovered.length) await journal.rewrite(kept);
  }

  return {
    submit,
    check: (tx) => void check(tx, latin1(tx.sender)),
    get: (id) => {
      const entry = entries.get(latin1(id));
      return entry && decode(entry);
    },
    holds: (tx) => {
      const entry = entries.get(latin1(tx.id));
      return entry !== undefined && equal(entry.bytes, tx.bytes);
    },
    list: () => order.inOrder().map(decode),
    size: () => entries.size,
    bytes: () => senders.bytes,
    inOrder: () => order.inOrder(),
    decode,
    drop,
    dropped: (id) => dropped.get(latin1(id)),
    removeMined(ids) {
      for (const id of ids) {
        const entry = entries.get(latin1(id));
        if (entry !== undefined) remove(entry);
      }
      void trimJournal();
    },
    keep,
    readmit,
    recover,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async stop() {
      stopped = true;
      cancelCleanup();
      await journal.close();
    },
  };
}

/** What a result of a contract was made for waits for another result. */
const waitingOf = (mined: Tx): Tx => mined.def.inner?.(mined) ?? mined;
