/**
 * Announced transactions that this node lacks, and the peers that have them.
 *
 * Invariants: each is requested from one peer, and from one more when the last one asked is late; a
 * request ends by itself; the number of requested transactions is limited, in all and for one peer;
 * other peers that announce one wait for that.
 */

/** Requested transactions that have not arrived yet, in all and from one peer. */
export const WANTED_MAX = 20_000;
export const WANTED_OF_ONE_MAX = 5_000;
/** Peers that are known to have a wanted transaction. */
const SOURCES_MAX = 8;

interface Entry<Source> {
  readonly sources: Source[];
  /** So many of them, from the first, are being asked. */
  asked: number;
  /** The last one asked is late, and no other is known. */
  isLate: boolean;
}

export class Wanted<Source> {
  /** By hash. */
  private readonly entries = new Map<string, Entry<Source>>();
  /** The number of transactions requested from each peer. */
  private readonly asked = new Map<Source, number>();

  join(source: Source): void {
    this.asked.set(source, 0);
  }

  leave(source: Source): void {
    this.asked.delete(source);
    for (const { sources, asked } of this.entries.values()) {
      const at = sources.indexOf(source);
      // The request of one that is being asked fails by itself.
      if (at >= asked) sources.splice(at, 1);
    }
  }

  /** Those of the announced transactions that are to be requested from this peer now. */
  announced(source: Source, hashes: readonly string[]): string[] {
    let count = this.asked.get(source);
    if (count === undefined) return [];
    const missing: string[] = [];
    for (const hash of hashes) {
      const entry = this.entries.get(hash);
      const hasRoom = count < WANTED_OF_ONE_MAX;
      if (entry !== undefined) {
        const { sources } = entry;
        if (sources.length >= SOURCES_MAX || sources.includes(source)) continue;
        sources.push(source);
        if (!entry.isLate || !hasRoom) continue;
        entry.asked += 1;
        entry.isLate = false;
      } else if (this.entries.size < WANTED_MAX && hasRoom) {
        this.entries.set(hash, { sources: [source], asked: 1, isLate: false });
      } else continue;
      missing.push(hash);
      count += 1;
    }
    this.asked.set(source, count);
    return missing;
  }

  /** True where it was requested and has not arrived. */
  has(hash: string): boolean {
    return this.entries.has(hash);
  }

  /**
   * The transaction has arrived. Returns the peers that have it; undefined where it was not
   * requested, or arrived before.
   */
  arrived(hash: string): readonly Source[] | undefined {
    const entry = this.entries.get(hash);
    this.entries.delete(hash);
    return entry?.sources;
  }

  /** `count` of the transactions that a peer was asked for no longer count. */
  done(source: Source, count: number): void {
    this.count(source, -count);
  }

  /** A peer that was asked for these did not send them: returns the peers to ask now. */
  unanswered(source: Source, left: readonly string[]): Map<Source, string[]> {
    return this.passedOn(left, (entry) => {
      const at = entry.sources.indexOf(source);
      if (at === -1 || at >= entry.asked) return false;
      entry.sources.splice(at, 1);
      entry.asked -= 1;
      // Those that were asked before the last one are late.
      if (at === entry.asked) entry.isLate = true;
      return at === entry.asked;
    });
  }

  /** A peer that was asked for these takes long: returns the peers to ask as well. */
  late(source: Source, hashes: readonly string[]): Map<Source, string[]> {
    return this.passedOn(hashes, (entry) => {
      entry.isLate = entry.sources[entry.asked - 1] === source;
      return entry.isLate;
    });
  }

  /** Each of these for which one more peer is to be asked, by that peer. */
  private passedOn(
    hashes: readonly string[],
    isDue: (entry: Entry<Source>) => boolean,
  ): Map<Source, string[]> {
    const next = new Map<Source, string[]>();
    for (const hash of hashes) {
      const entry = this.entries.get(hash);
      if (entry === undefined || !isDue(entry)) continue;
      const other = entry.sources[entry.asked];
      if (other === undefined) {
        if (entry.asked === 0) this.entries.delete(hash);
        continue;
      }
      entry.asked += 1;
      entry.isLate = false;
      this.count(other, 1);
      const list = next.get(other);
      if (list === undefined) next.set(other, [hash]);
      else list.push(hash);
    }
    return next;
  }

  clear(): void {
    this.entries.clear();
    this.asked.clear();
  }

  private count(source: Source, change: number): void {
    const before = this.asked.get(source);
    if (before !== undefined) this.asked.set(source, before + change);
  }
}
