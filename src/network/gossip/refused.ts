/**
 * Transactions of peers that this node's head has refused. The peer may be a block ahead, and it
 * takes this node for one that has them, so they are asked for again after the next blocks.
 *
 * Invariants: the number of transactions is limited, in all and for each peer that sent them; each
 * is asked for a few times at most. Nothing but hashes is kept.
 */

/** Of all peers; more are offered again by the rebroadcast of the peers alone. */
export const REFUSED_MAX = 20_000;
/** Of one peer: those of one announcement. */
export const REFUSED_OF_ONE_MAX = 500;
/** The number of blocks after which a transaction is asked for again. */
export const ASKED_AGAIN_MAX = 3;

/** Peers that are known to have one. */
const SOURCES_MAX = 4;

interface Refusal<Source> {
  /** The peers that have it; it counts in the share of the first. */
  sources: readonly Source[];
  /** How often it was asked for again. */
  times: number;
  /** It was refused since it was asked for. */
  isDue: boolean;
}

export class Refused<Source> {
  private readonly byHash = new Map<string, Refusal<Source>>();
  private readonly shares = new Map<Source, number>();

  /** True where it was refused before, and this peer is asked for it again. */
  has(hash: string, source: Source): boolean {
    return this.byHash.get(hash)?.sources.includes(source) === true;
  }

  /** `sources` have it; the first one has sent it. */
  note(hash: string, sources: readonly Source[]): void {
    const known = this.byHash.get(hash);
    this.forget(hash);
    const times = known?.times ?? 0;
    const all = [...new Set([...sources, ...(known?.sources ?? [])])].slice(0, SOURCES_MAX);
    if (times < ASKED_AGAIN_MAX) this.put(hash, { sources: all, times, isDue: true });
  }

  /** It is in the pool, or of no interest any more. */
  forget(hash: string): void {
    const known = this.byHash.get(hash);
    if (known === undefined) return;
    this.byHash.delete(hash);
    const first = known.sources[0]!;
    const share = this.shares.get(first)! - 1;
    if (share > 0) this.shares.set(first, share);
    else this.shares.delete(first);
  }

  leave(source: Source): void {
    for (const [hash, known] of [...this.byHash]) {
      if (!known.sources.includes(source)) continue;
      this.forget(hash);
      this.put(hash, { ...known, sources: known.sources.filter((one) => one !== source) });
    }
  }

  /**
   * Those to ask for now, for each peer that has them. Those that were asked for before are
   * forgotten, unless they are still on their way.
   */
  take(isOnItsWay: (hash: string) => boolean): Map<Source, string[]> {
    const due = new Map<Source, string[]>();
    for (const [hash, known] of this.byHash) {
      if (!known.isDue) {
        if (!isOnItsWay(hash)) this.forget(hash);
        continue;
      }
      known.isDue = false;
      known.times++;
      for (const source of known.sources) {
        const list = due.get(source);
        if (list === undefined) due.set(source, [hash]);
        else list.push(hash);
      }
    }
    return due;
  }

  private put(hash: string, refusal: Refusal<Source>): void {
    if (this.byHash.size >= REFUSED_MAX) return;
    // A peer whose share is used up does not take this one from the others that have it.
    const payer = refusal.sources.find((one) => this.shareOf(one) < REFUSED_OF_ONE_MAX);
    if (payer === undefined) return;
    const others = refusal.sources.filter((one) => one !== payer);
    this.shares.set(payer, this.shareOf(payer) + 1);
    this.byHash.set(hash, { ...refusal, sources: [payer, ...others] });
  }

  private shareOf(source: Source): number {
    return this.shares.get(source) ?? 0;
  }
}
