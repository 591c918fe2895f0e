/**
 * Announced transactions that this node lacks, and the peers that have them.
 *
 * Invariants: each is requested from one peer at a time, whose request ends by itself; the number
 * of requested transactions is limited, in all and for one peer; other peers that announce one wait
 * for the first to fail.
 */

/** Requested transactions that have not arrived yet, in all and from one peer. */
export const WANTED_MAX = 20_000;
export const WANTED_OF_ONE_MAX = 5_000;
/** Peers that are known to have a wanted transaction. */
const SOURCES_MAX = 4;

export class Wanted<Source> {
  /** By hash; the first peer is being asked. */
  private readonly sources = new Map<string, Source[]>();
  /** The number of transactions requested from each peer. */
  private readonly asked = new Map<Source, number>();

  join(source: Source): void {
    this.asked.set(source, 0);
  }

  leave(source: Source): void {
    this.asked.delete(source);
    for (const sources of this.sources.values()) {
      const at = sources.indexOf(source);
      // The first peer is being asked; its request fails by itself.
      if (at > 0) sources.splice(at, 1);
    }
  }

  /** Those of the announced transactions that are to be requested from this peer now. */
  announced(source: Source, hashes: readonly string[]): string[] {
    let count = this.asked.get(source);
    if (count === undefined) return [];
    const missing: string[] = [];
    for (const hash of hashes) {
      const sources = this.sources.get(hash);
      if (sources !== undefined) {
        if (sources.length < SOURCES_MAX && !sources.includes(source)) sources.push(source);
      } else if (this.sources.size < WANTED_MAX && count < WANTED_OF_ONE_MAX) {
        this.sources.set(hash, [source]);
        missing.push(hash);
        count += 1;
      }
    }
    this.asked.set(source, count);
    return missing;
  }

  /** True where it was requested and has not arrived. */
  has(hash: string): boolean {
    return this.sources.has(hash);
  }

  /**
   * The transaction has arrived. Returns the peers that have it; undefined where it was not
   * requested, or arrived before.
   */
  arrived(hash: string): readonly Source[] | undefined {
    const sources = this.sources.get(hash);
    this.sources.delete(hash);
    return sources;
  }

  /** `count` of the transactions that a peer was asked for no longer count. */
  done(source: Source, count: number): void {
    this.count(source, -count);
  }

  /** A peer that was asked for these did not send them: returns the peers to ask now. */
  unanswered(source: Source, left: readonly string[]): Map<Source, string[]> {
    const next = new Map<Source, string[]>();
    for (const hash of left) {
      const others = this.sources.get(hash)?.filter((one) => one !== source && this.asked.has(one));
      const [other] = others ?? [];
      if (others === undefined || other === undefined) {
        this.sources.delete(hash);
        continue;
      }
      this.sources.set(hash, others);
      this.count(other, 1);
      const list = next.get(other);
      if (list === undefined) next.set(other, [hash]);
      else list.push(hash);
    }
    return next;
  }

  clear(): void {
    this.sources.clear();
    this.asked.clear();
  }

  private count(source: Source, change: number): void {
    const before = this.asked.get(source);
    if (before !== undefined) this.asked.set(source, before + change);
  }
}
