/** The rules that the models run: those of src/finality, so that a mutation can replace one. */
import { mayMakeBlock, noteAfterLoss } from '../../src/finality/rules.ts';
import { type Link, makesSourceFinal, mayCarry, mayVote } from '../../src/finality/votes/links.ts';
import { decidingSets, quorum, setsAfter } from '../../src/finality/votes/voter-sets.ts';

export const rules = {
  quorum,
  decidingSets,
  setsAfter,
  /** A node reads it from its table of carried justifications. */
  sourceAfter: (sourceOfParent: number, carried: number | undefined): number =>
    carried ?? sourceOfParent,
  mayCarry,
  mayVote,
  noteAfterLoss,
  mayMakeBlock,
  /** Whether a voter takes the highest justified block that it knows of, and not that of the chain. */
  hasLocalSources: false,
  /** Whether each branch has a root of its own, that of the height of activation. */
  hasOwnRoots: false,
  /** Blocks from checkpoint to checkpoint in a chain with that many voters. */
  spacing: (_voters: number): number => 1,
  /** To whom the voters change where these are entitled: never to nobody. */
  changesTo: (current: number, entitled: number): number => (entitled === 0 ? current : entitled),
  makesSourceFinal: ({ source, target }: Link, spacing: number): boolean =>
    spacing === 1 ? makesSourceFinal({ source, target }) : target === source + spacing,
};

export type Rules = typeof rules;
