/**
 * A vote is a link from a source to a target (finality.md#votes). Both are blocks, and these rules
 * compare nothing but their heights: which block the source is follows from the chain of the target.
 */

/** Heights of two checkpoints of one chain. */
export interface Link {
  readonly source: number;
  readonly target: number;
}

/** A justification says something new, or its block is invalid. */
export const mayCarry = (sourceOfParent: number, carried: number): boolean =>
  carried > sourceOfParent;

/** `last` is the latest vote of the same voter: nothing else limits what a voter may sign. */
export const mayVote = (last: Link, next: Link): boolean =>
  next.target > last.target && next.source >= last.source;

/** A justified link to the direct successor makes its source final. */
export const makesSourceFinal = ({ source, target }: Link): boolean => target === source + 1;

export interface IdentifiedLink extends Link {
  /** Text of the block's id. */
  readonly targetId: string;
}

/** Two votes of one voter that `mayVote` never permits in any order; evidence of a lie. */
export const contradict = (a: IdentifiedLink, b: IdentifiedLink): boolean =>
  (a.target === b.target && a.targetId !== b.targetId) || surrounds(a, b) || surrounds(b, a);

const surrounds = (outer: Link, inner: Link): boolean =>
  outer.source < inner.source && inner.target < outer.target;
