/**
 * Unconfirmed transactions (protocol.md §7).
 *
 * Invariants: an entry was valid on the head when it came in, together with what its sender has in
 * the pool already; it is on disk before `submit` resolves; it leaves only by being mined, by
 * expiry or with a recorded reason; nothing is evicted for a newcomer. Entries are kept as bytes,
 * since an object for each field would cost ten times the memory.
 */
import { base58 } from '../base/base58.ts';
import { equal, fromLatin1, latin1 } from '../base/bytes.ts';
import { ApiError, apiError, refused } from '../base/errors.ts';
import type { Clock, Journal, Log, Verifier } from '../base/ports.ts';
import type { Chain } from '../codec/codec.ts';
import { decodeTx } from '../tx/bytes.ts';
import { invalidSignature } from '../tx/pipeline.ts';
import { signaturesOf } from '../tx/signatures.ts';
import type { Tx } from '../tx/transaction.ts';
import { type Ordered, TimeOrder } from './order.ts';
import type { Spending } from './spending.ts';

export interface PoolOptions {
  /** Bytes of all entries together (`utx.memory-limit`). */
  readonly bytesMax: number;
  /** Entries of one sender; it may also hold a tenth of the bytes at most (H-17). */
  readonly senderEntriesMax: number;
  readonly expireMs: number;
  readonly cleanupMs: number;
  /** Name of the native token in messages. */
  readonly nativeToken: string;
}

/** What the pool asks of the chain. */
export interface PoolChain {
  /**
   * Validates on top of the head as if in the next block, without leaving a trace, and says what
   * it takes from the sender. Throws ApiError.
   */
  tryApply(tx: Tx): Spending;
  availableBalance(address: Uint8Array): bigint;
  assetBalance(address: Uint8Array, assetId: Uint8Array): bigint;
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
}

interface SenderTotals {
  entries: number;
  bytes: number;
  native: bigint;
  assets: Map<string, bigint>;
}

export interface PoolListener {
  /** The entry passed all checks and is on disk. */
  added?(entry: PoolEntry): void;
  removed?(entry: PoolEntry): void;
}

const SENDER_BYTES_SHARE = 10;
const DROPPED_MAX = 10_000;
const REVALIDATED_PER_TURN = 200;
const JOURNAL_SLACK_BYTES = 8 * 1024 * 1024;

export interface Pool {
  submit(tx: Tx): Promise<Tx>;
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
  /** Transactions of blocks that were rolled back come again, validated anew. */
  readmit(txs: Iterable<Tx>): Promise<void>;
  /** Re-admits what the journal held at the last stop. */
  recover(): Promise<void>;
  listen(listener: PoolListener): () => void;
  stop(): Promise<void>;
}

const unavailable = (what: string, balance: bigint, spends: bigint): ApiError =>
  refused(
    `Attempt to transfer unavailable funds: Transaction application leads to negative ${what} ` +
      'balance to (at least) temporary negative state, ' +
      `current balance equals ${balance}, spends equals -${spends}, result is ${balance - spends}`,
  );

export function createPool(options: PoolOptions, ports: PoolPorts): Pool {
  const { chain, state, verifier, journal, clock, log } = ports;
  const entries = new Map<string, PoolEntry>();
  const order = new TimeOrder<PoolEntry>();
  const senders = new Map<string, SenderTotals>();
  const arriving = new Map<string, Promise<Tx>>();
  const dropped = new Map<string, string>();
  const listeners = new Set<PoolListener>();
  let bytesTotal = 0;
  let journalBytes = 0;
  let stopped = false;
  let cancelCleanup = clock.after(options.cleanupMs, cleanup);

  async function submit(tx: Tx): Promise<Tx> {
    const key = latin1(tx.id);
    // First: while it is on its way to the disk it is among the entries already.
    const running = arriving.get(key);
    if (running !== undefined) return running;
    const known = entries.get(key);
    if (known !== undefined) return decode(known);
    const arrival = admit(tx, key, true);
    arriving.set(key, arrival);
    try {
      return await arrival;
    } finally {
      arriving.delete(key);
    }
  }

  async function admit(tx: Tx, key: string, checkSignature: boolean): Promise<Tx> {
    if (tx.def.internal) {
      throw apiError('Invalid', `Bad transaction type (${tx.type}) and version (${tx.version})`);
    }
    const sender = latin1(tx.sender);
    requireRoom(tx.bytes.length, sender);
    if (checkSignature && !(await areSignaturesValid(tx))) throw invalidSignature(tx);
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

  function requireRoom(size: number, sender: string): void {
    const own = senders.get(sender);
    const full =
      bytesTotal + size > options.bytesMax ||
      (own !== undefined &&
        (own.entries >= options.senderEntriesMax ||
          (own.bytes + size) * SENDER_BYTES_SHARE > options.bytesMax));
    if (full) throw apiError('Invalid', 'Transaction pool bytes size limit is reached');
  }

  function insert(tx: Tx, key: string, sender: string): PoolEntry {
    const spending = state.tryApply(tx);
    // Others may have filled the pool while the signature was being checked.
    requireRoom(tx.bytes.length, sender);
    const totals = senders.get(sender) ?? { entries: 0, bytes: 0, native: 0n, assets: new Map() };
    requireFunds(tx, spending, totals);
    const entry: PoolEntry = {
      key,
      id: tx.id,
      bytes: tx.bytes.slice(),
      timestamp: tx.timestamp,
      sender,
      spending,
      removed: false,
    };
    entries.set(key, entry);
    order.add(entry);
    senders.set(sender, totals);
    count(totals, entry, 1);
    return entry;
  }

  function requireFunds(tx: Tx, spending: Spending, totals: SenderTotals): void {
    if (totals.entries === 0) return;
    const native = state.availableBalance(tx.sender);
    const spends = totals.native + spending.native;
    if (spending.native > 0n && spends > native) {
      throw unavailable(options.nativeToken, native, spends);
    }
    for (const [asset, amount] of spending.assets ?? []) {
      const id = fromLatin1(asset);
      const balance = state.assetBalance(tx.sender, id);
      const assetSpends = (totals.assets.get(asset) ?? 0n) + amount;
      if (assetSpends > balance) {
        throw unavailable(`asset '${base58.encode(id)}'`, balance, assetSpends);
      }
    }
  }

  function count(totals: SenderTotals, entry: PoolEntry, sign: 1 | -1): void {
    const factor = BigInt(sign);
    bytesTotal += sign * entry.bytes.length;
    totals.entries += sign;
    totals.bytes += sign * entry.bytes.length;
    totals.native += factor * entry.spending.native;
    for (const [asset, amount] of entry.spending.assets ?? []) {
      const sum = (totals.assets.get(asset) ?? 0n) + factor * amount;
      if (sum === 0n) totals.assets.delete(asset);
      else totals.assets.set(asset, sum);
    }
    if (totals.entries === 0) senders.delete(entry.sender);
  }

  function remove(entry: PoolEntry): void {
    if (!entries.delete(entry.key)) return;
    order.remove(entry);
    const totals = senders.get(entry.sender);
    if (totals !== undefined) count(totals, entry, -1);
    journalBytes += entry.bytes.length;
    for (const listener of listeners) listener.removed?.(entry);
  }

  function drop(entry: PoolEntry, error: ApiError): void {
    remove(entry);
    noteDropped(entry.id, error);
  }

  function noteDropped(id: Uint8Array, error: ApiError): void {
    if (dropped.size >= DROPPED_MAX) dropped.delete(dropped.keys().next().value ?? '');
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
    if (journalBytes < JOURNAL_SLACK_BYTES || journalBytes < bytesTotal) return;
    journalBytes = 0;
    await journal.rewrite([...order.inOrder()].map((entry) => entry.bytes));
  }

  async function readmit(txs: Iterable<Tx>): Promise<void> {
    let running: Promise<void>[] = [];
    for (const mined of txs) {
      // What a result was made for waits for another result.
      const tx = mined.def.inner?.(mined) ?? mined;
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
      if (entries.has(key)) continue;
      try {
        tellAdded(insert(tx, key, latin1(tx.sender)));
        kept.push(record);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        noteDropped(tx.id, error);
      }
      if (++inTurn % REVALIDATED_PER_TURN === 0) await clock.turn();
    }
    if (kept.length !== journal.recovered.length) await journal.rewrite(kept);
  }

  return {
    submit,
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
    bytes: () => bytesTotal,
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
