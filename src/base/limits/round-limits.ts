/**
 * The limits of a miner that executes contracts, each once, with the words in which
 * docs/protocol/contracts.md states it.
 */
import { limit } from './contract-limits.ts';

export const roundLimits = {
  inPlay: limit(20_000, '', 'transactions in play at once'),
  inPlayOfOne: limit(5_000, '', 'of them those of one sender, or of one contract'),
  leftOut: limit(200_000, '', 'others that wait for such a place'),
  reserve: limit(4, '', 'part of the runs kept for creators that have none: one of so many'),
  groups: limit(2, '', 'part of a round for contracts inside atomic transactions: one of so many'),
  groupsOfOne: limit(
    4,
    '',
    'part of that after which further ones of a sender wait for all others: one of so many',
  ),
  groupsWasted: limit(
    4,
    '',
    'part of that after whose waste senders with a success come first: one of so many',
  ),
  stale: limit(2, '', 'executions of a call beside others, of which the last makes it run alone'),
  alone: limit(4, '', 'part of a round in which one creator may run alone: one of so many'),
  aloneOfAll: limit(2, '', 'the same of all creators together: one of so many'),
  coldAtOnce: limit(8, '', 'images whose containers are asked for at once while others run'),
  coldPause: limit(25, 'ms', 'pause before the first such question; then twice as long each time'),
  coldPauseMax: limit(400, 'ms', 'the longest such pause'),
  checks: limit(8, '', 'checks of the images of updates at once'),
  checksOfOne: limit(2, '', 'of them those of one creator'),
  attempts: limit(10, '', 'attempts at a transaction that fails'),
  pause: limit(1_000, 'ms', 'pause after the first of them; then twice as long each time'),
  pauseMax: limit(60_000, 'ms', 'the longest such pause'),
  heldUp: limit(3_600_000, 'ms', 'time for which outages may hold up a transaction'),
  failures: limit(10, '', 'failures in a row after which calls of a sender, or a contract, rest'),
  rests: limit(5, '', 'such rests, in the last of which the transactions leave the pool'),
  rest: limit(5_000, 'ms', 'the first rest; then twice as long each time'),
  restMax: limit(60_000, 'ms', 'the longest rest'),
  restingImages: limit(100, '', 'images that rest by outages while the engine is not at fault'),
  restingImagesOfOne: limit(50, '', 'of them those of one creator that count'),
  completion: limit(5, '', 'part of a round that remains to complete the block: one of so many'),
  completionMax: limit(500, 'ms', 'the longest such part'),
  completionMin: limit(50, 'ms', 'the shortest such part'),
  completionMore: limit(8, '', 'most of the contract part that slow blocks cost: one of so many'),
  completionBlocks: limit(4, '', 'last blocks of the node of which the slowest counts'),
  stakeShare: limit(4, '', 'part of `average-block-delay` for contracts: one of so many'),
  checkTime: limit(1_000, 'ms', 'wait of a block for the check of an image'),
} as const;
