/**
 * The limits of what status records bring about, each once, with the words in which
 * docs/protocol/contracts.md states it.
 */
import { limit } from './contract-limits.ts';

export const statusLimits = {
  heard: limit(3_600_000, 'ms', 'since its last record, for a miner to count as one that executes'),
  doubted: limit(600_000, 'ms', 'for which a call stays that only some of these have refused'),
  doubtedShare: limit(10, '', 'part of the pool that such calls hold: one of so many'),
  repeats: limit(5, '', 'repetitions of a refusal'),
  repeatPause: limit(120_000, 'ms', 'pause before the first one; then twice as long each time'),
  repeatsAtOnce: limit(1_000, '', 'refusals of a miner that are repeated in half a minute'),
} as const;
