/** The rules that an engine runs, together, so that a simulation can show what each one is for. */
import { mayVote } from './links.ts';
import { noteAfterLoss } from './notes.ts';
import { decidingSets, quorum } from './voter-sets.ts';
import { mayMakeBlock } from './waiting.ts';

export const rules = { quorum, decidingSets, mayVote, noteAfterLoss, mayMakeBlock };

export type Rules = typeof rules;
