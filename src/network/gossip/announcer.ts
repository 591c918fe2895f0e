/**
 * Announces the transactions of the pool (mempool.md): in batches, until enough peers have each
 * transaction, and again where one waits for long.
 *
 * Invariants: a transaction is not announced to a peer that is known to have it; nothing is
 * announced while the node is far behind; all stored hashes are limited.
 */
import { fromLatin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { every } from '../../concurrency/interval.ts';
import type { BytesIndex } from '../../mempool/entries/bytes-index.ts';
import type { Pool } from '../../mempool/pool.ts';
import { encodeTxHashes, txLimits, txProtocols } from '../messages/transaction-messages.ts';
import type { Session } from '../sessions/session.ts';
import { type PeerNumber, Spread, type SpreadRecord } from './spread.ts';

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
  readonly number: PeerNumber;
  /** Hashes to announce with the next batch, in addition to those for everyone. */
  outgoing: Set<string>;
}

/**
 * The time that a batch waits for more hashes; on a busy node, a millisecond longer for each hash
 * of the last batch.
 */
const GATHER_MS = 50;

export class Announcer {
  private readonly options: AnnouncerOptions;
  private readonly ports: AnnouncerPorts;
  private readonly peers = new Map<Listener, Peer>();
  private readonly spread: Spread;
  /** New transactions to announce with the next batch. */
  private fresh = new Set<SpreadRecord>();
  private cancelFlush: (() => void) | undefined;
  private cancelRetry: (() => void) | undefined;
  private cancelRebroadcast: (() => void) | undefined;
  /** The number of hashes that the previous batch had for the peer with the most. */
  private flushed = 0;
  /** The number of peers that have joined so far. */
  private joined = 0;
  private stopped = false;

  constructor(options: AnnouncerOptions, ports: AnnouncerPorts) {
    // Peers take no longer lists.
    this.options = { ...options, batchMax: Math.min(options.batchMax, txLimits.countMax) };
    this.ports = ports;
    const isWaiting = (hash: string): boolean => ports.index.waits(hash);
    this.spread = new Spread({ enough: options.minBroadcast, isWaiting });
  }

  start(): void {
    const { retryMs, rebroadcastEveryMs } = this.options;
    const { clock } = this.ports;
    this.cancelRetry = every(clock, retryMs, () => this.retry());
    this.cancelRebroadcast = every(clock, rebroadcastEveryMs, () => this.rebroadcast());
  }

  join(session: Listener): void {
    const peer = { number: ++this.joined, outgoing: new Set<string>() };
    this.peers.set(session, peer);
    for (const hash of this.ports.index.hashes()) this.queue(session, peer, hash);
  }

  leave(session: Listener): void {
    this.peers.delete(session);
  }

  /**
   * Where the transaction was in the pool before, a peer that fetched it then may have refused it.
   */
  announce(hash: string, wasThereBefore: boolean): void {
    if (wasThereBefore) this.spread.forgetHolders(hash);
    this.fresh.add(this.spread.begin(hash, this.ports.clock.monotonic()));
    if (this.fresh.size >= this.options.batchMax) this.flushFresh();
    else this.flushSoon();
  }

  /** The peer has it. */
  delivered(session: Listener, hash: string): void {
    const peer = this.peers.get(session);
    if (peer !== undefined) this.spread.delivered(peer.number, hash);
  }

  stop(): void {
    this.stopped = true;
    this.cancelFlush?.();
    this.cancelRetry?.();
    this.cancelRebroadcast?.();
  }

  private queue(session: Listener, peer: Peer, hash: string): void {
    if (this.spread.has(peer.number, hash)) return;
    peer.outgoing.add(hash);
    if (peer.outgoing.size >= this.options.batchMax) this.flushPeer(session, peer);
    else this.flushSoon();
  }

  private flushSoon(): void {
    const waitMs = Math.min(this.options.batchMs, GATHER_MS + this.flushed);
    this.cancelFlush ??= this.ports.clock.after(waitMs, () => this.flushAll());
  }

  private flushAll(): void {
    this.cancelFlush = undefined;
    this.flushed = 0;
    if (this.stopped) return;
    this.flushFresh();
    for (const [session, peer] of this.peers) this.flushPeer(session, peer);
  }

  private flushFresh(): void {
    const waiting = [...this.fresh].filter(({ hash }) => this.ports.index.waits(hash));
    this.fresh = new Set();
    if (this.ports.isFarBehind()) return;
    let chosen = 0;
    for (const [session, { number }] of this.peers) {
      if (chosen++ >= this.options.maxBroadcast) return;
      const lacking = waiting.filter(({ holders }) => !holders.includes(number));
      this.send(
        session,
        Array.from(lacking, ({ hash }) => hash),
      );
    }
  }

  private flushPeer(session: Listener, peer: Peer): void {
    const { outgoing } = peer;
    if (outgoing.size === 0) return;
    peer.outgoing = new Set();
    if (this.ports.isFarBehind()) return;
    const { index } = this.ports;
    const lacking = [...outgoing].filter(
      (hash) => index.waits(hash) && !this.spread.has(peer.number, hash),
    );
    this.send(session, lacking);
  }

  private send(session: Listener, all: readonly string[]): void {
    const { batchMax } = this.options;
    this.flushed = Math.max(this.flushed, all.length);
    for (let from = 0; from < all.length; from += batchMax) {
      const hashes = all.slice(from, from + batchMax).map(fromLatin1);
      session.notify(txProtocols.hashes, encodeTxHashes(hashes, this.ports.scheme));
    }
  }

  private retry(): void {
    for (const { hash } of this.spread.undelivered()) {
      for (const [session, peer] of this.peers) this.queue(session, peer, hash);
    }
  }

  private rebroadcast(): void {
    const { clock, pool, index } = this.ports;
    const oldest = clock.monotonic() - this.options.rebroadcastAgeMs;
    for (const entry of pool.inOrder()) {
      if (!entry.announced) continue;
      const hash = index.hashOf(entry);
      if (this.spread.since(hash) > oldest) continue;
      this.spread.forgetHolders(hash);
      for (const [session, peer] of this.peers) this.queue(session, peer, hash);
    }
  }
}
