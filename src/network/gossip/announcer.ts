/**
 * Announces the transactions of the pool (mempool.md): in batches, until enough peers have each
 * transaction, and again where one waits for long.
 *
 * Invariants: a transaction is not announced to a peer that is known to have it; nothing is
 * announced while the node is far behind; all stored hashes are limited.
 */
import { fromLatin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports.ts';
import { createRecentSet, type RecentSet } from '../../base/recent-set.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { BytesIndex } from '../../mempool/bytes-index.ts';
import type { Pool } from '../../mempool/pool.ts';
import { encodeTxHashes, txProtocols } from '../messages/transaction-messages.ts';
import type { Session } from '../sessions/session.ts';

export interface AnnouncerOptions {
  readonly batchMax: number;
  readonly batchMs: number;
  /** The number of peers that is enough. */
  readonly minBroadcast: number;
  /** The most peers to which a new transaction is announced at once. */
  readonly maxBroadcast: number;
  readonly retryMs: number;
  readonly rebroadcastAgeMs: number;
  readonly rebroadcastEveryMs: number;
}

export interface AnnouncerPorts {
  readonly scheme: ChainScheme;
  readonly pool: Pick<Pool, 'inOrder'>;
  readonly index: Pick<BytesIndex, 'hashes' | 'hashOf' | 'waits'>;
  readonly clock: Clock;
  readonly isFarBehind: () => boolean;
}

export type Listener = Pick<Session, 'notify'>;

interface Peer {
  /** Hashes that were announced or fetched. */
  readonly known: RecentSet;
  /** Hashes to announce with the next batch. */
  outgoing: Set<string>;
}

const PEER_KNOWN_MAX = 25_000;
/**
 * Entries that too few peers have; above this limit, only the periodic rebroadcast announces them.
 */
const UNDELIVERED_MAX = 20_000;
/**
 * The time that a batch waits for more hashes; on a busy node, a millisecond longer for each hash
 * of the last batch.
 */
const GATHER_MS = 50;

export class Announcer {
  private readonly options: AnnouncerOptions;
  private readonly ports: AnnouncerPorts;
  private readonly peers = new Map<Listener, Peer>();
  /** Hash → the number of peers that have it, until they are enough. */
  private readonly undelivered = new Map<string, number>();
  private cancelFlush: (() => void) | undefined;
  private cancelRetry: () => void;
  private cancelRebroadcast: () => void;
  /** The number of hashes that the previous batch had for the peer with the most. */
  private flushed = 0;
  private stopped = false;

  constructor(options: AnnouncerOptions, ports: AnnouncerPorts) {
    this.options = options;
    this.ports = ports;
    const { clock } = ports;
    this.cancelRetry = clock.after(options.retryMs, () => this.retry());
    this.cancelRebroadcast = clock.after(options.rebroadcastEveryMs, () => this.rebroadcast());
  }

  join(session: Listener): void {
    const { clock, index } = this.ports;
    const known = createRecentSet(PEER_KNOWN_MAX, Number.POSITIVE_INFINITY, clock);
    const peer = { known, outgoing: new Set<string>() };
    this.peers.set(session, peer);
    for (const hash of index.hashes()) this.queue(session, peer, hash);
  }

  leave(session: Listener): void {
    this.peers.delete(session);
  }

  /**
   * Where the transaction was in the pool before, a peer that fetched it then may have refused it.
   */
  announce(hash: string, wasThereBefore: boolean): void {
    if (wasThereBefore) this.forgetHolders(hash);
    const holders = this.holders(hash);
    if (this.undelivered.size < UNDELIVERED_MAX) this.count(hash, holders);
    let chosen = 0;
    for (const [session, peer] of this.peers) {
      if (chosen++ >= this.options.maxBroadcast) return;
      this.queue(session, peer, hash);
    }
  }

  /** The peer has it. */
  delivered(session: Listener, hash: string): void {
    const peer = this.peers.get(session);
    if (peer === undefined) return;
    peer.outgoing.delete(hash);
    const holders = peer.known.has(hash) ? undefined : this.undelivered.get(hash);
    peer.known.add(hash);
    if (holders !== undefined) this.count(hash, holders + 1);
  }

  /** The transaction has left the pool. */
  removed(hash: string): void {
    this.undelivered.delete(hash);
  }

  stop(): void {
    this.stopped = true;
    this.cancelFlush?.();
    this.cancelRetry();
    this.cancelRebroadcast();
  }

  private forgetHolders(hash: string): void {
    for (const { known } of this.peers.values()) known.remove(hash);
    if (this.undelivered.has(hash)) this.undelivered.set(hash, 0);
  }

  private holders(hash: string): number {
    let holders = 0;
    for (const { known } of this.peers.values()) if (known.has(hash)) holders++;
    return holders;
  }

  private count(hash: string, holders: number): void {
    if (holders < this.options.minBroadcast) this.undelivered.set(hash, holders);
    else this.undelivered.delete(hash);
  }

  private queue(session: Listener, peer: Peer, hash: string): void {
    if (peer.known.has(hash)) return;
    peer.outgoing.add(hash);
    const { batchMax, batchMs } = this.options;
    if (peer.outgoing.size >= batchMax) {
      this.flush(session, peer);
      return;
    }
    const waitMs = Math.min(batchMs, GATHER_MS + this.flushed);
    this.cancelFlush ??= this.ports.clock.after(waitMs, () => this.flushAll());
  }

  private flushAll(): void {
    this.cancelFlush = undefined;
    this.flushed = 0;
    if (this.stopped) return;
    for (const [session, peer] of this.peers) {
      this.flushed = Math.max(this.flushed, peer.outgoing.size);
      this.flush(session, peer);
    }
  }

  private flush(session: Listener, peer: Peer): void {
    const { scheme, index, isFarBehind } = this.ports;
    const { batchMax } = this.options;
    const all = [...peer.outgoing];
    peer.outgoing = new Set();
    if (isFarBehind()) return;
    for (let from = 0; from < all.length; from += batchMax) {
      const hashes = all.slice(from, from + batchMax).filter((hash) => index.waits(hash));
      if (hashes.length === 0) continue;
      session.notify(txProtocols.hashes, encodeTxHashes(hashes.map(fromLatin1), scheme));
    }
  }

  private retry(): void {
    if (this.stopped) return;
    for (const hash of this.undelivered.keys()) {
      for (const [session, peer] of this.peers) this.queue(session, peer, hash);
    }
    this.cancelRetry = this.ports.clock.after(this.options.retryMs, () => this.retry());
  }

  private rebroadcast(): void {
    if (this.stopped) return;
    const { clock, pool, index } = this.ports;
    const oldest = clock.now() - this.options.rebroadcastAgeMs;
    for (const entry of pool.inOrder()) {
      if (entry.timestamp > oldest || !entry.announced) continue;
      const hash = index.hashOf(entry);
      this.forgetHolders(hash);
      for (const [session, peer] of this.peers) this.queue(session, peer, hash);
    }
    const { rebroadcastEveryMs } = this.options;
    this.cancelRebroadcast = clock.after(rebroadcastEveryMs, () => this.rebroadcast());
  }
}
