/** Whose turns passed without a block, where miners take turns in one order. */

export interface Header {
  readonly height: number;
  readonly timestamp: number;
  readonly generator: string;
  readonly signature: string;
}

export interface MissedTurn {
  /** Undefined where the order is not known, as of one that has not made a block yet. */
  readonly owner: string | undefined;
  readonly timestamp: number;
}

/**
 * Between two blocks lie the turns of those between their makers. Who follows whom is learnt from blocks
 * without a gap between them, so miners may come and go.
 */
export function missedTurns(blocks: readonly Header[], roundMs: number): MissedTurn[] {
  const next = new Map<string, string>();
  const missed: MissedTurn[] = [];
  for (const [i, { generator, timestamp }] of blocks.slice(1).entries()) {
    const before = blocks[i]!;
    const rounds = Math.round((timestamp - before.timestamp) / roundMs);
    if (rounds === 1) next.set(before.generator, generator);
    let owner: string | undefined = before.generator;
    for (let j = 1; j < rounds; j++) {
      owner = owner === undefined ? undefined : next.get(owner);
      // Who has made the block has missed no turn before it: a newcomer has.
      if (owner === generator) owner = undefined;
      missed.push({ owner, timestamp: before.timestamp + j * roundMs });
    }
  }
  return missed;
}

/** Of the miners of an operator: from the order to stop until they make blocks again. */
export interface Absence {
  readonly owners: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** Those that nobody's absence explains; of one that is not known, any absence may be the reason. */
export const unexplained = (
  missed: readonly MissedTurn[],
  absences: readonly Absence[],
): MissedTurn[] =>
  missed.filter(
    ({ owner, timestamp }) =>
      !absences.some(
        ({ owners, from, to }) =>
          (owner === undefined || owners.includes(owner)) && from <= timestamp && timestamp <= to,
      ),
  );
