/**
 * Time under PoA: rounds of equal length, counted from the genesis timestamp. Miners make blocks in
 * the working part of a round; the sync part after it leaves time for the blocks to spread
 * (consensus.md#rounds).
 */

export interface RoundSettings {
  readonly genesisTimestamp: number;
  readonly roundDurationMs: number;
  readonly syncDurationMs: number;
}

export interface Rounds {
  readonly length: number;
  /** The number of the round that contains a time; genesis is in round 0. */
  numberAt(timestamp: number): number;
  /** The first millisecond of a round. */
  start(round: number): number;
  /** The first millisecond of its sync part. */
  syncStart(round: number): number;
  /** The last millisecond of a round. */
  end(round: number): number;
}

export function createRounds(settings: RoundSettings): Rounds {
  const { genesisTimestamp, roundDurationMs } = settings;
  const length = roundDurationMs + settings.syncDurationMs;
  const start = (round: number): number => genesisTimestamp + round * length;
  return {
    length,
    numberAt: (timestamp) => Math.floor((timestamp - genesisTimestamp) / length),
    start,
    syncStart: (round) => start(round) + roundDurationMs,
    end: (round) => start(round) + length - 1,
  };
}

/**
 * The number of rounds without a block between a parent and its child; 0 where the child is in the
 * next round.
 */
export const skippedRounds = (rounds: Rounds, parent: number, child: number): number =>
  rounds.numberAt(child) - rounds.numberAt(parent) - 1;
