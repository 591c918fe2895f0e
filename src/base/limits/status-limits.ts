/**
 * The limits of what status records bring about, each once, with the words in which
 * docs/protocol/contracts.md states it.
 */
import { KIB, MIB } from './budget.ts';
import { limit } from './contract-limits.ts';

export const statusLimits = {
  heard: limit(3_600_000, 'ms', 'since its last record, for a miner to count as one that executes'),
  doubted: limit(600_000, 'ms', 'for which a call stays that only some of these have refused'),
  doubtedShare: limit(10, '', 'part of the pool that such calls hold: one of so many'),
  repeats: limit(5, '', 'repetitions of a refusal'),
  repeatPause: limit(120_000, 'ms', 'pause before the first one; then twice as long each time'),
  repeatsAtOnce: limit(1_000, '', 'refusals of a miner that are repeated in half a minute'),

  message: limit(1_000, '', 'characters of a message; longer ones are cut'),
  record: limit(5 * KIB, 'bytes', 'a record'),
  batch: limit(50, '', 'records of one batch'),
  ahead: limit(300_000, 'ms', 'that a record may be ahead of the clock of the node'),
  early: limit(20_000, 'ms', 'for which a record waits for its transaction'),
  earlyInAll: limit(2_000, '', 'records that wait so'),
  earlyOfOne: limit(200, '', 'of them those of one peer'),
  kept: limit(2, '', 'records kept of one miner, transaction and status'),
  taken: limit(50, '', 'records taken of one miner, transaction and status'),
  bytes: limit(64 * MIB, 'bytes', 'all records together'),
  checked: limit(1_000, '', 'records of one peer that wait for the check of their signature'),
  own: limit(20_000, '', 'records of this node that wait for their way out'),
  others: limit(2_000, '', 'records of others that wait for it'),
} as const;
