/**
 * Model C: what honest voters do once the network works again and the liars are silent. They follow the
 * highest justified block that they know of, make blocks and vote.
 */

import type { Branches, World } from './branches.ts';
import { highestJustified } from './branches.ts';
import { bit, bits, type Chain, extended, has, isEnough, justified } from './chain.ts';

/** Above the highest block that has a vote. */
const BLOCKS_MAX = 4;

/**
 * Votes of liars that no block carries may be lost, so any of the highest justifications may be
 * unknown; and the score of blocks may prefer any branch that has the highest known one.
 */
export function problemOfLife(
  ends: readonly Chain[],
  state: Branches,
  world: World,
): string | undefined {
  const all = [...ends, ...state.left];
  const carried = Math.max(...all.map(({ source }) => source));
  const heights = new Set([carried, ...all.flatMap(({ uncarried }) => bits(uncarried))]);
  for (const known of heights) {
    if (known < carried) continue;
    const views = all.map((chain) => ({
      ...chain,
      uncarried: chain.uncarried & (bit(known + 1) - 1),
    }));
    const best = Math.max(...views.map(highestJustified));
    for (const head of views) {
      if (highestJustified(head) === best && !finalises(head, state, world)) {
        return `honest voters follow the branch with ${best} justified, and nothing becomes final in ${BLOCKS_MAX} blocks above height ${state.height}`;
      }
    }
  }
  return undefined;
}

function finalises(head: Chain, { height, voters }: Branches, { rules }: World): boolean {
  let chain = head;
  let active = voters;
  while (chain.height < height + BLOCKS_MAX) {
    const best = highestJustified(chain);
    const carried = rules.mayCarry(chain.source, best) ? best : undefined;
    chain = extended(chain, carried, chain.sets.current, rules);
    const source = chain.source;
    const next = { source, target: chain.height };
    let voted = 0;
    active = active.map((voter) => {
      // Nobody remembers here how high it voted: as high as anybody could.
      const last = { source: voter.last.source, target: Math.max(voter.last.target, height) };
      if (!rules.mayVote(last, next)) return { ...voter, last };
      voted |= bit(voter.name);
      return { ...voter, last: next };
    });
    if (!isEnough(chain, voted, rules)) continue;
    chain = justified(chain, source, rules);
    if (has(chain.finalising, chain.height)) return true;
  }
  return false;
}
