/**
 * Who votes on a block, by its position in the chain (finality.md#voters). `S` is a set of voters.
 *
 * The sets are state of the chain: each block has those that its parent left, so nodes with the same
 * parent agree on them, whatever else they know.
 */

export interface VoterSets<S> {
  /** Changes completed so far. */
  readonly change: number;
  readonly current: S;
  /** The change that goes on; one at a time, and none is ever given up. */
  readonly next: { readonly voters: S; readonly since: number } | undefined;
}

/** What a block says about voters. */
export interface VotersOfBlock<S> {
  readonly height: number;
  /** Those that the state after this block entitles. */
  readonly entitled: S;
  /** Height of the block that the carried justification makes final. */
  readonly provenFinal: number | undefined;
}

/** Votes needed of a set of `count` voters: more than two thirds. */
export const quorum = (count: number): number => Math.floor((2 * count) / 3) + 1;

/** The sets of which each must give a quorum for a child of the block that left `sets`. */
export const decidingSets = <S>({ current, next }: VoterSets<S>): readonly S[] =>
  next === undefined ? [current] : [current, next.voters];

/** What a block leaves to its children. */
export function setsAfter<S>(
  sets: VoterSets<S>,
  { height, entitled, provenFinal }: VotersOfBlock<S>,
  isSame: (a: S, b: S) => boolean,
): VoterSets<S> {
  const { change, current, next } = sets;
  if (next === undefined) {
    if (isSame(current, entitled)) return sets;
    return { change, current, next: { voters: entitled, since: height } };
  }
  if (provenFinal === undefined || provenFinal < next.since) return sets;
  return { change: change + 1, current: next.voters, next: undefined };
}
