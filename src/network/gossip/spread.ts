/**
 * Which peers have which transaction: those that announced, requested or sent it.
 *
 * One record serves all peers. With a table for each peer, every transaction was searched for a
 * dozen times. In tables of many thousands a search costs a microsecond, since their memory is in
 * no cache of the processor.
 *
 * Invariants: the number of records, of peers in a record and of undelivered hashes is limited.
 */
import { BoundedCache } from '../../concurrency/bounded-cache.ts';

/** A peer is known by a number, so that no record keeps a closed session in memory. */
export type PeerNumber = number;

export interface SpreadRecord {
  readonly hash: string;
  readonly holders: PeerNumber[];
  /** True while it is in the list of those that too few peers have. */
  isListed: boolean;
  /** When it came into the pool, on the monotonic clock; 0 where only peers are known to have it. */
  since: number;
}

export interface SpreadOptions {
  /** The number of peers that must have a transaction. */
  readonly enough: number;
  readonly isWaiting: (hash: string) => boolean;
}

/** The last hashes that are remembered; up to twice as many are. */
const KNOWN_MAX = 50_000;
/** With more holders than this, the first ones are forgotten. */
const HOLDERS_MAX = 64;
/** Hashes that too few peers have; above this limit, only the periodic rebroadcast announces them. */
const UNDELIVERED_MAX = 20_000;
const SIFTED_AT = 1_000;

export class Spread {
  private readonly options: SpreadOptions;
  private readonly byHash = new BoundedCache<string, SpreadRecord>(KNOWN_MAX);
  /** Those that too few peers have, and some that were delivered since the list was sifted. */
  private listed: SpreadRecord[] = [];
  private siftAt = SIFTED_AT;

  constructor(options: SpreadOptions) {
    this.options = options;
  }

  /** The record of a new transaction, which is undelivered until enough peers have it. */
  begin(hash: string, now: number): SpreadRecord {
    const known = this.knownOf(hash);
    // V8 keeps a small integer in the object itself.
    known.since = Math.trunc(now);
    if (known.isListed || known.holders.length >= this.options.enough) return known;
    if (this.listed.length >= this.siftAt) this.sift();
    if (this.listed.length < UNDELIVERED_MAX) {
      known.isListed = true;
      this.listed.push(known);
    }
    return known;
  }

  delivered(peer: PeerNumber, hash: string): void {
    const { holders } = this.knownOf(hash);
    if (holders.includes(peer)) return;
    if (holders.length >= HOLDERS_MAX) holders.shift();
    holders.push(peer);
  }

  has(peer: PeerNumber, hash: string): boolean {
    return this.byHash.get(hash)?.holders.includes(peer) === true;
  }

  /**
   * When it came into the pool. 0 where that is no longer known, since many have come after it. The
   * timestamp of a transaction says nothing about that: its sender has chosen it.
   */
  since(hash: string): number {
    return this.byHash.get(hash)?.since ?? 0;
  }

  forgetHolders(hash: string): void {
    const known = this.byHash.get(hash);
    if (known !== undefined) known.holders.length = 0;
  }

  /** Those that wait in the pool and that too few peers have. */
  undelivered(): readonly SpreadRecord[] {
    this.sift();
    return this.listed;
  }

  private sift(): void {
    const { enough, isWaiting } = this.options;
    this.listed = this.listed.filter((known) => {
      known.isListed = known.holders.length < enough && isWaiting(known.hash);
      return known.isListed;
    });
    this.siftAt = Math.max(SIFTED_AT, 2 * this.listed.length);
  }

  private knownOf(hash: string): SpreadRecord {
    let known = this.byHash.get(hash);
    if (known === undefined) {
      known = { hash, holders: [], isListed: false, since: 0 };
      this.byHash.set(hash, known);
    }
    return known;
  }
}
