/**
 * Unconfirmed transactions (mempool.md).
 *
 * Invariants: an entry was valid on the head when it came in, together with what its sender has in
 * the pool already; it is on disk before `submit` resolves; it leaves only by being mined, by
 * expiry or with a recorded reason; nothing is evicted for a newcomer. Transactions of blocks that
 * were taken back return whether the pool is full or not (unsettled.ts).
 */
import { base58 } from '../base/base58.ts';
import { equal, latin1 } from '../base/bytes.ts';
import { type ApiError, apiError, refused } from '../base/errors.ts';
import { tellAll } from '../base/listeners.ts';
import type { Clock, Journal, Log, SignatureCheck, Verifier } from '../base/ports.ts';
import { Recent } from '../base/recent.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { refusalFrom } from '../codec/refusal.ts';
import { addChecks, allGood, type ProofVerdicts, takeVerdicts } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import { decodeTx } from '../tx/tx-bytes.ts';
import { entryOf, type PoolEntry } from './entry.ts';
import { createReadmission } from './readmission.ts';
import { type Funds, type SenderLimits, Senders } from './senders.ts';
import { NOTHING_SPENT, type Spending } from './spending.ts';
import { TimeOrder } from './time-order.ts';
import { createUnsettled } from './unsettled.ts';

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
  tryApply(tx: Tx, verdicts: ProofVerdicts): Spending;
  /** For several transactions, each on top of those before it. */
  together(): { isCurrent(): boolean; tryApply(tx: Tx, verdicts: ProofVerdicts): Spending };
  /** True where a block of the chain has it. */
  isMined(id: Uint8Array): boolean;
}

export interface PoolPorts {
  readonly scheme: ChainScheme;
  readonly state: PoolChain;
  readonly verifier: Verifier;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
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
  /** What was found about the proofs of exactly these bytes, where they wait here (H-18). */
  verdictsOn(tx: Tx): ProofVerdicts | undefined;
  /** Decoded one by one; what comes or goes meanwhile may be among them or not. */
  list(): Iterable<Tx>;
  size(): number;
  bytes(): number;
  /** Entries in block order; the array is valid until the next change. */
  inOrder(): readonly PoolEntry[];
  decode(entry: PoolEntry): Tx;
  /** Takes it out with this reason; a later head decides where a reorganisation is the reason. */
  drop(entry: PoolEntry, error: ApiError): void;
  /** Why a transaction left the pool unmined, if that was recently. */
  dropped(id: Uint8Array): string | undefined;
  removeMined(ids: Iterable<Uint8Array>): void;
  /**
   * Writes to disk what is about to fall out of the chain, so that a crash between the two does not
   * lose it; a transaction that is still in the chain at the next start is skipped then.
   */
  keep(txs: Iterable<Tx>): Promise<void>;
  /** Transactions of blocks that were rolled back come again, in their order. */
  readmit(txs: Iterable<Tx>): Promise<void>;
  /** Resolves when all that has been rolled back is here again. */
  readmitted(): Promise<void>;
  /** Re-admits what the journal held at the last stop. */
  recover(): Promise<void>;
  listen(listener: PoolListener): () => void;
  stop(): Promise<void>;
}

export function createPool(options: PoolOptions, ports: PoolPorts): Pool {
  const { scheme, state, verifier, journal, clock, log } = ports;
  const entries = new Map<string, PoolEntry>();
  const order = new TimeOrder<PoolEntry>();
  const senders = new Senders(options, state);
  const arriving = new Map<string, Promise<Tx>>();
  const dropped = new Recent<string, string>(DROPPED_MAX);
  const listeners = new Set<PoolListener>();
  const unsettled = createUnsettled({
    clock,
    together() {
      const { isCurrent, tryApply } = state.together();
      return { isCurrent, tryApply: (entry) => tryApply(decode(entry), entry.verdicts) };
    },
    isSound: (entry) => problemOf(entry) === undefined,
    announce,
    spends(entry, spending) {
      senders.remove(entry);
      entry.spending = spending;
      senders.add(entry);
    },
    drop: leave,
  });
  const readmission = createReadmission({
    journal,
    clock,
    log,
    isKnown: (tx, key) => stopped || entries.has(key) || state.isMined(tx.id),
    put(tx) {
      const entry = put(tx, allGood(tx), NOTHING_SPENT, true);
      unsettled.shake([entry]);
      return entry;
    },
    done: unsettled.putFirst,
  });
  let journalBytes = 0;
  let stopped = false;
  let cancelCleanup = clock.after(options.cleanupMs, cleanup);

  async function submit(tx: Tx): Promise<Tx> {
    // First: while it is on its way to the disk it is among the entries already. By all its bytes,
    // so that a copy with a wrong proof does not decide about the good one (H-18).
    const bytes = latin1(tx.bytes);
    const running = arriving.get(bytes);
    if (running !== undefined) return running;
    const arrival = admit(tx, latin1(tx.id));
    arriving.set(bytes, arrival);
    try {
      return await arrival;
    } finally {
      arriving.delete(bytes);
    }
  }

  async function admit(tx: Tx, key: string): Promise<Tx> {
    if (tx.def.internal) {
      throw apiError('BadTransactionType', tx.type, tx.version);
    }
    const sender = latin1(tx.sender);
    const known = entries.get(key);
    if (known !== undefined) return earlier(known, sender);
    senders.requireRoom(tx.bytes.length, sender);
    requireDecodable(tx);
    const verdicts = await findVerdicts(tx);
    // One with other proofs may have come in meanwhile: the first one stays.
    const rival = entries.get(key);
    if (rival !== undefined) return earlier(rival, sender);
    const entry = insert(tx, sender, verdicts);
    try {
      await journal.append(tx.bytes);
    } catch (cause) {
      remove(entry);
      log.error('pool.journal-failed', { why: String(cause) });
      throw apiError('StatusCheckFailed', 'the pool cannot be written to disk');
    }
    if (!entry.removed) announce(entry);
    return tx;
  }

  /** What is kept are its bytes: they must mean the same to this node and to every other one. */
  function requireDecodable(tx: Tx): void {
    let again: Tx;
    try {
      again = decodeTx(tx.bytes, scheme);
    } catch (cause) {
      throw refusalFrom(cause);
    }
    if (again.layout === tx.layout && equal(again.id, tx.id)) return;
    throw apiError('Invalid', 'the bytes of the transaction mean another one');
  }

  /** The entry that has this id already. Ids of aliases do not tell senders apart. */
  function earlier(known: PoolEntry, sender: string): Tx {
    if (known.sender !== sender) throw refused('Alias already claimed');
    return decode(known);
  }

  async function findVerdicts(tx: Tx): Promise<ProofVerdicts> {
    const checks: SignatureCheck[] = [];
    addChecks(checks, tx);
    const answers = await Promise.all(
      checks.map((of) => verifier.verifyOne(of.publicKey, of.message, of.signature)),
    );
    return takeVerdicts(answers.values(), tx);
  }

  function announce(entry: PoolEntry): void {
    entry.announced = true;
    tellAll(listeners, log, (listener) => listener.added?.(entry));
  }

  function check(tx: Tx, sender: string, verdicts: ProofVerdicts): Spending {
    const spending = state.tryApply(tx, verdicts);
    senders.requireRoom(tx.bytes.length, sender);
    senders.requireFunds(tx, sender, spending);
    return spending;
  }

  function insert(tx: Tx, sender: string, verdicts: ProofVerdicts): PoolEntry {
    // Others may have filled the pool while the signature was being checked.
    return put(tx, verdicts, check(tx, sender, verdicts));
  }

  function put(tx: Tx, verdicts: ProofVerdicts, spending: Spending, returned = false): PoolEntry {
    const entry = entryOf(tx, verdicts, spending, returned);
    entries.set(entry.key, entry);
    order.add(entry);
    senders.add(entry);
    return entry;
  }

  function remove(entry: PoolEntry): void {
    if (!entries.delete(entry.key)) return;
    order.remove(entry);
    senders.remove(entry);
    unsettled.forget(entry);
    journalBytes += entry.bytes.length;
    tellAll(listeners, log, (listener) => listener.removed?.(entry));
  }

  function drop(entry: PoolEntry, error: ApiError): void {
    if (!unsettled.retain(entry)) leave(entry, error);
  }

  function leave(entry: PoolEntry, error: ApiError): void {
    remove(entry);
    noteDropped(entry.id, error);
  }

  function noteDropped(id: Uint8Array, error: ApiError): void {
    dropped.set(latin1(id), error.message);
    log.info('pool.dropped', { id: base58.encode(id), why: error.message });
  }

  function decode(entry: PoolEntry): Tx {
    return decodeTx(entry.bytes, scheme);
  }

  /** Why the head alone refuses it. */
  function problemOf(entry: PoolEntry): ApiError | undefined {
    try {
      state.tryApply(decode(entry), entry.verdicts);
      return undefined;
    } catch (error) {
      return refusalFrom(error);
    }
  }

  /** Those in doubt first. The array is valid until the next change. */
  function inOrder(): readonly PoolEntry[] {
    const ordered = order.inOrder();
    if (unsettled.size === 0) return ordered;
    return [...unsettled.entries(), ...ordered.filter((entry) => !unsettled.has(entry))];
  }

  async function cleanup(): Promise<void> {
    const now = clock.now();
    let inTurn = 0;
    for (const entry of [...order.inOrder()]) {
      if (stopped) return;
      if (entry.removed) continue;
      if (now - entry.timestamp > options.expireMs) {
        leave(entry, apiError('Mistiming', `Transaction ts ${entry.timestamp} is too old`));
        continue;
      }
      const problem = unsettled.has(entry) ? undefined : problemOf(entry);
      if (problem !== undefined) drop(entry, problem);
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
      const waiting = order.inOrder().map((entry) => entry.bytes);
      await journal.rewrite([...waiting, ...readmission.underWay()]);
    } catch (cause) {
      // The old file still holds all that was promised, and the next block tries again.
      log.error('pool.journal-failed', { why: String(cause) });
    }
  }

  async function readmit(txs: Iterable<Tx>): Promise<void> {
    unsettled.shake(entries.values());
    await readmission.readmit(txs);
    await unsettled.settle();
  }

  /** A record of another release, perhaps. Its transaction was acknowledged, so the log says so. */
  function readRecord(record: Uint8Array): Tx | undefined {
    try {
      return decodeTx(record, scheme);
    } catch (cause) {
      const why = refusalFrom(cause).message;
      log.error('pool.record-skipped', { hash: base58.encode(scheme.fastHash(record)), why });
      return undefined;
    }
  }

  async function recover(): Promise<void> {
    let kept = 0;
    const refused: Tx[] = [];
    let inTurn = 0;
    for (const record of journal.recovered) {
      const tx = readRecord(record);
      if (tx === undefined) continue;
      const key = latin1(tx.id);
      if (++inTurn % REVALIDATED_PER_TURN === 0) await clock.turn();
      // Most of it, since the journal is trimmed now and then only.
      if (entries.has(key) || state.isMined(tx.id)) continue;
      try {
        announce(insert(tx, latin1(tx.sender), allGood(tx)));
        kept++;
      } catch (error) {
        // Throws what is a fault of this node.
        refusalFrom(error);
        refused.push(tx);
      }
    }
    // The end may have come in the middle of a reorganisation, and then they build on one another.
    if (refused.length > 0) for (const entry of entries.values()) unsettled.putLast(entry);
    for (const tx of refused) {
      if (entries.has(latin1(tx.id))) continue;
      unsettled.putLast(put(tx, allGood(tx), NOTHING_SPENT));
      kept++;
    }
    if (kept !== journal.recovered.length) {
      await journal.rewrite(Array.from(entries.values(), ({ bytes }) => bytes));
    }
    await unsettled.settle();
  }

  return {
    submit,
    check: (tx) => void check(tx, latin1(tx.sender), allGood(tx)),
    get: (id) => {
      const entry = entries.get(latin1(id));
      return entry && decode(entry);
    },
    verdictsOn: (tx) => {
      const entry = entries.get(latin1(tx.id));
      return entry !== undefined && equal(entry.bytes, tx.bytes) ? entry.verdicts : undefined;
    },
    *list() {
      for (const entry of inOrder()) yield decode(entry);
    },
    size: () => entries.size,
    bytes: () => senders.bytes,
    inOrder,
    decode,
    drop,
    dropped: (id) => dropped.get(latin1(id)),
    removeMined(ids) {
      for (const id of ids) {
        const entry = entries.get(latin1(id));
        if (entry !== undefined) remove(entry);
      }
      void trimJournal();
      void unsettled.settle();
    },
    keep: readmission.keep,
    readmit,
    readmitted: readmission.idle,
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
