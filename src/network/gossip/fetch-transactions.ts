/**
 * Fetches announced transactions and submits them to the pool (mempool.md).
 *
 * Invariants: a transaction is requested from one peer, and from a next one only when that fails or
 * is late (wanted.ts), and validated once, however many peers announce it; after a peer has sent a
 * transaction that the state refuses, its next ones are checked against the state before their
 * signatures, and that one is asked for again after the next blocks (refused.ts).
 */

import { isOurs } from '../../base/assert.ts';
import { fromLatin1, latin1 } from '../../base/bytes.ts';
import { Misconduct } from '../../base/faults/misconduct.ts';
import { isOwnFault } from '../../base/faults/own-fault.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import { type ChainScheme, CodecError } from '../../codec/codec.ts';
import type { Evidence } from '../../codec/evidence.ts';
import { isFaultOfPeer, isUnknownType, refusalFrom } from '../../codec/refusal.ts';
import type { ExpiringSet } from '../../concurrency/bounded-cache.ts';
import type { Pool } from '../../mempool/pool.ts';
import { WrongProof } from '../../tx/wrong-proof.ts';
import {
  decodeTxs,
  encodeTxHashes,
  txLimits,
  txProtocols,
} from '../messages/transaction-messages.ts';
import type { Session, Sessions } from '../sessions/session.ts';
import { Refused } from './refused.ts';
import type { Suspicions } from './suspicions.ts';
import { Wanted } from './wanted.ts';

export interface TransactionFetcherPorts {
  readonly scheme: ChainScheme;
  readonly pool: Pool;
  readonly sessions: Sessions;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  /** Transactions that were recently checked, with any verdict. */
  readonly checked: ExpiringSet;
  readonly suspicions: Pick<Suspicions, 'note' | 'isMuted'>;
  /** True where peers of a newer release may know types that this node does not. */
  readonly isOutdated: (height: number) => boolean;
}

/** Transactions of a peer that are doubted after a refused one. */
const DOUBTED_MAX = 1_000;
const REQUEST_TIMEOUT_MS = 10_000;
/**
 * After that another peer is asked as well. It is no offence: a block may have taken the transaction
 * from the pool of a slow peer. The time doubles with each further peer, so that a slow network carries
 * few copies.
 */
const LATE_MS = 1_000;
/** After a block, before what was refused is asked for again. */
const AGAIN_MS = 200;

/** A transaction that was asked for. */
interface Arrived {
  readonly bytesHash: string;
  readonly bytes: Uint8Array;
  /** The peers that have it. */
  readonly sources: readonly Session[];
}

export class TransactionFetcher {
  private readonly ports: TransactionFetcherPorts;
  private readonly wanted = new Wanted<Session>();
  /** The number of transactions that are checked against the state before their signatures. */
  private readonly doubted = new Map<Session, number>();
  private readonly refusals = new Refused<Session>();
  private cancelAgain: (() => void) | undefined;
  private stopped = false;

  constructor(ports: TransactionFetcherPorts) {
    this.ports = ports;
  }

  join(session: Session): void {
    this.wanted.join(session);
    this.doubted.set(session, 0);
  }

  leave(session: Session): void {
    this.wanted.leave(session);
    this.refusals.leave(session);
    this.doubted.delete(session);
  }

  /** The peer has these transactions, which are not in the pool. */
  announced(session: Session, hashes: readonly string[]): void {
    if (this.ports.suspicions.isMuted(session)) return;
    const missing = this.wanted.announced(session, hashes);
    if (missing.length > 0) void this.fetch(session, missing);
  }

  /**
   * The head has moved, so that it may accept what it has refused. Blocks often come together, and
   * all but the last of them say little.
   */
  headMoved(): void {
    this.cancelAgain ??= this.ports.clock.after(AGAIN_MS, () => {
      this.cancelAgain = undefined;
      const due = this.refusals.take((hash) => this.wanted.has(hash));
      for (const [session, hashes] of due) this.announcedAgain(session, hashes);
    });
  }

  stop(): void {
    this.stopped = true;
    this.cancelAgain?.();
    this.wanted.clear();
  }

  /** It may have come from another peer meanwhile. */
  private announcedAgain(session: Session, hashes: readonly string[]): void {
    const { checked } = this.ports;
    this.announced(
      session,
      hashes.filter((hash) => !checked.has(hash)),
    );
  }

  private async fetch(
    session: Session,
    hashes: readonly string[],
    lateMs = LATE_MS,
  ): Promise<void> {
    // Those that are asked for again may be more than one request holds.
    for (let from = 0; from < hashes.length; from += txLimits.countMax) {
      const part = hashes.slice(from, from + txLimits.countMax);
      const left = await this.fetchFrom(session, part, lateMs);
      this.wanted.done(session, part.length);
      const next = this.wanted.unanswered(session, left);
      for (const [source, list] of next) void this.fetch(source, list);
    }
  }

  /** Returns the hashes of the transactions that the peer did not send. */
  private async fetchFrom(
    session: Session,
    hashes: readonly string[],
    lateMs: number,
  ): Promise<readonly string[]> {
    const { log } = this.ports;
    let left = hashes;
    try {
      while (left.length > 0) {
        const txs = await this.request(session, left, lateMs);
        if (txs === undefined || txs.length === 0) break;
        const got = await this.take(session, txs);
        const rest = left.filter((hash) => !got.has(hash));
        // Transactions that were not requested do not help, and asking again would never end.
        if (rest.length === left.length) break;
        // Another peer may have sent some meanwhile.
        left = rest.filter((hash) => this.wanted.has(hash));
      }
    } catch (error) {
      if (isOurs(error)) throw error;
      log.debug('tx.fetch-failed', { why: String(error) });
      const isOpen = this.ports.sessions.of(session.owner) === session;
      if (isOpen && error instanceof Misconduct) session.offend('withheld', error);
    }
    return left;
  }

  private async request(
    session: Session,
    hashes: readonly string[],
    lateMs: number,
  ): Promise<readonly Uint8Array[] | undefined> {
    const { scheme, clock } = this.ports;
    const cancel = clock.after(lateMs, () => {
      const next = this.wanted.late(session, hashes);
      for (const [source, list] of next) void this.fetch(source, list, 2 * lateMs);
    });
    try {
      const message = encodeTxHashes(hashes.map(fromLatin1), scheme);
      const answer = await session.request(txProtocols.txs, message, REQUEST_TIMEOUT_MS);
      return read(session, () => decodeTxs(answer, scheme));
    } finally {
      cancel();
    }
  }

  /** Returns the hashes. */
  private async take(session: Session, txs: readonly Uint8Array[]): Promise<Set<string>> {
    const { scheme, pool, checked } = this.ports;
    const got = new Set<string>();
    const fresh: Arrived[] = [];
    for (const bytes of txs) {
      const hash = latin1(scheme.fastHash(bytes));
      got.add(hash);
      const sources = this.wanted.arrived(hash);
      if (sources === undefined || checked.has(hash) || this.stopped) continue;
      checked.add(hash);
      fresh.push({ bytesHash: hash, bytes, sources });
    }
    // A signature check costs more than a check of the state, which must be repeated afterwards.
    const doubted = fresh.splice(0, this.doubtedOf(session, fresh.length));
    const submit = async (list: typeof fresh, isDoubted: boolean): Promise<void> => {
      if (list.length === 0) return;
      const errors = await pool.submitAll(list, isDoubted);
      for (const [i, error] of errors.entries()) {
        if (error === undefined) this.refusals.forget(list[i]!.bytesHash);
        else this.refused(session, list[i]!, error);
      }
    };
    await Promise.all([submit(doubted, true), submit(fresh, false)]);
    return got;
  }

  private refused(session: Session, { bytesHash: hash, sources }: Arrived, error: unknown): void {
    const { log, checked, suspicions } = this.ports;
    // A corrected retry of the sender must not be mistaken for this transaction.
    checked.delete(hash);
    const others = sources.filter((one) => one !== session && this.doubted.has(one));
    const askAgain = (): void => {
      if (this.doubted.has(session)) this.refusals.note(hash, [session, ...others]);
    };
    if (isOwnFault(error)) {
      if (isOurs(error)) throw error;
      log.debug('tx.refused', { why: String(error) });
      askAgain();
      return;
    }
    const refusal = refusalFrom(error);
    log.debug('tx.refused', { why: refusal.message });
    const offence = this.offenceIn(error);
    if (offence !== undefined) {
      this.refusals.forget(hash);
      session.offend('invalid-transactions', offence);
      return;
    }
    if (this.doubted.has(session)) this.doubted.set(session, DOUBTED_MAX);
    // What this node has asked for again has been noted when it came first.
    const isAgain = this.refusals.has(hash, session);
    if (refusal instanceof WrongProof && !isAgain) suspicions.note(session, refusal);
    askAgain();
  }

  private offenceIn(error: unknown): Evidence | undefined {
    // The head of the peer may be far ahead.
    const isFromLater = isUnknownType(error) && this.ports.isOutdated(Number.POSITIVE_INFINITY);
    return !isFromLater && isFaultOfPeer(error) ? error : undefined;
  }

  /** How many of the next `count` transactions are doubted. */
  private doubtedOf(session: Session, count: number): number {
    const left = this.doubted.get(session) ?? 0;
    const doubted = Math.min(left, count);
    if (doubted > 0) this.doubted.set(session, left - doubted);
    return doubted;
  }
}

function read<T>(session: Session, decode: () => T): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    session.offend('malformed-message', error);
    session.close(error.message);
    return undefined;
  }
}
