/**
 * Model E: a network that falls into two sides, each of which goes on as far as it may, and that
 * heals at any step, and falls apart again with other sides. A liar talks to both sides.
 *
 * Within a side everybody has the same chain. Where sides meet, all follow the branch with the higher
 * justified block, then the longer one. A block carries the highest justification that its chain
 * lacks. Only the last vote of each voter counts, which everybody sends again and again.
 */
import type { Link } from '../../src/finality/votes/links.ts';
import {
  bit,
  bits,
  type Chain,
  carriable,
  extended,
  has,
  isEnough,
  root,
  type Voters,
} from './chain.ts';
import type { Rules } from './rules.ts';
import type { Model } from './search.ts';

export interface Network {
  readonly rules: Rules;
  readonly heights: number;
  readonly maxRollback: number;
  readonly members: Voters;
  readonly liars: Voters;
}

interface Side {
  readonly chain: Chain;
  /** Highest final block that the side knows. */
  readonly final: number;
  /** Has made a block above final + max-rollback since the sides parted. */
  readonly isAhead: boolean;
}

interface Voter {
  readonly name: number;
  readonly side: number;
  readonly last: Link;
  /** The last vote is for a block of this chain. */
  readonly isOnChain: boolean;
  /** The last vote is from before the sides parted, so that both know it. */
  readonly isShared: boolean;
}

export interface Sides {
  /** One while all are connected, else two. */
  readonly sides: readonly Side[];
  /** Highest common block of the sides. */
  readonly fork: number;
  readonly voters: readonly Voter[];
}

/** Blocks within which something becomes final, above the tip and above the highest vote. */
const BLOCKS_MAX = 4;

export function sides(network: Network): Model<Sides> {
  const honest = bits(network.members & ~network.liars);
  return {
    start: {
      sides: [{ chain: root(network.members), final: 0, isAhead: false }],
      fork: 0,
      voters: honest.map((name) => ({
        name,
        side: 0,
        last: { source: 0, target: 0 },
        isOnChain: true,
        isShared: true,
      })),
    },
    words: 1 + 2 * 2 + honest.length,
    pack,
    unpack: (words) => unpack(words, honest, network),
    steps(state, take) {
      votes(state, network, take);
      if (network.liars !== 0) lies(state, network, take);
      blocks(state, network, take);
      partings(state, take);
      healings(state, network, take);
    },
    problem: (state) => problemOf(state, network),
  };
}

type Take = (next: Sides, say: () => string) => void;
const NAMES = ['first', 'second'];
const sideName = ({ sides }: Sides, i: number): string =>
  sides.length === 1 ? 'the network' : `the ${NAMES[i]} side`;

function votes(state: Sides, network: Network, take: Take): void {
  const tried = new Set<number>();
  for (const voter of state.voters) {
    const { chain } = state.sides[voter.side]!;
    const next = { source: chain.source, target: chain.height };
    if (tried.has(wordOf(voter)) || !network.rules.mayVote(voter.last, next)) continue;
    tried.add(wordOf(voter));
    const voters = state.voters.map((other) =>
      other === voter ? { ...voter, last: next, isOnChain: true, isShared: false } : other,
    );
    take(
      counted({ ...state, voters }, voter.side, 0, network),
      () =>
        `voter ${voter.name} votes ${next.source} → ${next.target} of ${sideName(state, voter.side)}`,
    );
  }
}

function lies(state: Sides, network: Network, take: Take): void {
  for (const i of state.sides.keys()) {
    take(
      counted(state, i, network.liars, network),
      () => `liars show ${sideName(state, i)} their votes`,
    );
  }
}

/** The state once the last votes of a side's voters are counted, for whichever block of its chain. */
function counted(state: Sides, i: number, liars: Voters, network: Network): Sides {
  let { chain, final, isAhead } = state.sides[i]!;
  const known = votersKnown(state, i).filter(({ isOnChain }) => isOnChain);
  for (const { last } of known) {
    const { source, target } = last;
    const voted = known
      .filter((other) => other.last.target === target)
      .reduce((all, { name }) => all | bit(name), liars);
    if (target === 0 || !isEnough(chain, voted, network.rules)) continue;
    const isDirect = network.rules.makesSourceFinal(last, 1);
    if (isDirect) final = Math.max(final, source);
    if (target <= chain.source) continue;
    chain = { ...chain, uncarried: chain.uncarried | bit(target) };
  }
  return withSide(state, i, { chain, final, isAhead });
}

/** Voters whose last vote the side knows. */
const votersKnown = ({ voters }: Sides, i: number): Voter[] =>
  voters.filter(({ side, isShared }) => side === i || isShared);

const withSide = (state: Sides, i: number, side: Side): Sides => ({
  ...state,
  sides: state.sides.map((other, k) => (k === i ? side : other)),
});

/** What the side may do next: with the highest justification that its chain lacks, and without votes of liars. */
function progressOf(state: Sides, i: number, network: Network, helpers: Voters) {
  const { chain, final } = state.sides[i]!;
  const here = state.voters.filter(({ side }) => side === i);
  const connected = here.reduce((all, { name }) => all | bit(name), helpers);
  const voted = votersKnown(state, i)
    .filter(({ last }) => last.target >= chain.height)
    .reduce((all, { name }) => all | bit(name), helpers);
  const isQuorum = (deciding: Chain['sets'], mask: Voters): boolean =>
    isEnough({ ...chain, deciding }, mask, network.rules);
  return {
    height: chain.height + 1,
    final,
    maxRollback: network.maxRollback,
    isQuorumConnected: isQuorum(chain.sets, connected),
    // Those who decide on the block to be made alone could not vote for its parent.
    hasQuorumVoted: isQuorum(chain.deciding, voted),
    carriesJustification: carriable(chain, network.rules).length > 0,
  };
}

function blocks(state: Sides, network: Network, take: Take): void {
  for (const [i, side] of state.sides.entries()) {
    const progress = progressOf(state, i, network, network.liars);
    if (progress.height > network.heights || !network.rules.mayMakeBlock(progress)) continue;
    take(withBlock(state, i, network), () => {
      const [carried] = carriable(side.chain, network.rules).slice(-1);
      const says = carried === undefined ? '' : `, carries the justification of height ${carried}`;
      return `${sideName(state, i)} makes block ${progress.height}${says}`;
    });
  }
}

function withBlock(state: Sides, i: number, network: Network): Sides {
  const { rules, members, maxRollback } = network;
  const side = state.sides[i]!;
  const [carried] = carriable(side.chain, rules).slice(-1);
  const chain = extended(side.chain, carried, members, rules);
  const isAhead = side.isAhead || chain.height > side.final + maxRollback;
  return withSide(state, i, { chain, final: side.final, isAhead });
}

/** The network falls into any two sides, of which equal voters need not be told apart. */
function partings(state: Sides, take: Take): void {
  const [side] = state.sides;
  if (state.sides.length !== 1 || side === undefined) return;
  const tried = new Set<string>();
  const { voters } = state;
  for (let mask = 0; mask < bit(voters.length - 1); mask++) {
    const parted = voters.map((voter, i) => ({
      ...voter,
      side: has(mask, i) ? 1 : 0,
      isShared: true,
    }));
    const kind = parted
      .map(wordOf)
      .sort((a, b) => a - b)
      .join();
    if (mask === 0 || tried.has(kind)) continue;
    tried.add(kind);
    const part = { ...side, isAhead: false };
    take(
      { sides: [part, part], fork: side.chain.height, voters: parted },
      () => `the network parts: ${nameOf(parted, 0)} | ${nameOf(parted, 1)}`,
    );
  }
}

const nameOf = (voters: readonly Voter[], i: number): string =>
  voters
    .filter(({ side }) => side === i)
    .map(({ name }) => name)
    .join(', ');

/** Which branch all follow: the highest justified block decides, then the height, then chance. */
function winners({ sides }: Sides): number[] {
  const rank = ({ chain }: Side): number =>
    Math.max(chain.source, ...bits(chain.uncarried)) * 16 + chain.height;
  const best = Math.max(...sides.map(rank));
  return [...sides.keys()].filter((i) => rank(sides[i]!) === best);
}

function healings(state: Sides, network: Network, take: Take): void {
  if (state.sides.length === 1) return;
  for (const winner of winners(state)) {
    const says = `the network heals, and all follow ${sideName(state, winner)}`;
    take(healed(state, winner, network), () => says);
  }
}

function healed(state: Sides, winner: number, network: Network): Sides {
  const { fork } = state;
  const { chain } = state.sides[winner]!;
  const loser = state.sides[1 - winner]!.chain;
  const learnt = (loser.uncarried | bit(loser.source)) & below(fork + 1) & ~below(chain.source + 1);
  const voters = state.voters.map((voter) => ({
    ...voter,
    side: 0,
    isShared: true,
    isOnChain: voter.isOnChain && (voter.side === winner || voter.last.target <= fork),
  }));
  const together = {
    chain: { ...chain, uncarried: chain.uncarried | learnt },
    final: Math.max(...state.sides.map(({ final }) => final)),
    isAhead: false,
  };
  return counted({ sides: [together], fork: chain.height, voters }, 0, 0, network);
}

const below = (height: number): number => bit(height) - 1;

function problemOf(state: Sides, network: Network): string | undefined {
  const { maxRollback } = network;
  const known = Math.max(...state.sides.map(({ final }) => final));
  if (state.sides.length === 2) {
    if (state.sides.every(({ isAhead }) => isAhead)) {
      return `both sides made a block above final + ${maxRollback}`;
    }
    for (const winner of winners(state)) {
      const loser = state.sides[1 - winner]!;
      if (known > state.fork && loser.final > state.fork) return 'a final block is reverted';
      const reverted = loser.chain.height - state.fork;
      // A liar who votes for blocks of its own and withholds a justification makes it more.
      const isTooMany = network.liars === 0 && reverted > 2 * maxRollback;
      if (isTooMany) return `${reverted} blocks are reverted`;
    }
    return undefined;
  }
  return goesOn(state, network)
    ? undefined
    : `all are connected, liars are silent, and nothing becomes final in ${BLOCKS_MAX} blocks`;
}

/** Connected, without liars: vote, make a block, vote … */
function goesOn(start: Sides, network: Network): boolean {
  const alone = { ...network, liars: 0 };
  const before = start.sides[0]!.final;
  const votes = start.voters.map(({ last }) => last.target);
  const most = Math.max(start.sides[0]!.chain.height, ...votes) + BLOCKS_MAX;
  let state = start;
  for (;;) {
    const { chain } = state.sides[0]!;
    const next = { source: chain.source, target: chain.height };
    const voters = state.voters.map((voter) =>
      network.rules.mayVote(voter.last, next)
        ? { ...voter, last: next, isOnChain: true, isShared: false }
        : voter,
    );
    state = counted({ ...state, voters }, 0, 0, alone);
    if (state.sides[0]!.final > before) return true;
    const progress = progressOf(state, 0, alone, 0);
    if (chain.height === most || !network.rules.mayMakeBlock(progress)) return false;
    state = withBlock(state, 0, alone);
  }
}

const wordOf = ({ side, last, isOnChain, isShared }: Voter): number =>
  side |
  (last.source << 4) |
  (last.target << 8) |
  (isOnChain ? 1 << 12 : 0) |
  (isShared ? 1 << 13 : 0);

function pack({ sides, fork, voters }: Sides, into: Uint32Array): void {
  into.fill(0);
  into[0] = sides.length | (fork << 4);
  for (const [i, { chain, final, isAhead }] of sides.entries()) {
    into[1 + 2 * i] = chain.height | (chain.source << 4) | (final << 8) | (isAhead ? 1 << 12 : 0);
    into[2 + 2 * i] = chain.uncarried;
  }
  into.set(
    voters.map(wordOf).sort((a, b) => a - b),
    5,
  );
}

function unpack(words: Uint32Array, honest: readonly number[], network: Network): Sides {
  const [head] = words as unknown as [number];
  const sides = Array.from({ length: head & 15 }, (_, i): Side => {
    const one = words[1 + 2 * i]!;
    return {
      chain: {
        ...root(network.members),
        height: one & 15,
        source: (one >> 4) & 15,
        uncarried: words[2 + 2 * i]!,
      },
      final: (one >> 8) & 15,
      isAhead: (one & (1 << 12)) !== 0,
    };
  });
  const voters = honest.map((name, i): Voter => {
    const word = words[5 + i]!;
    return {
      name,
      side: word & 15,
      last: { source: (word >> 4) & 15, target: (word >> 8) & 15 },
      isOnChain: (word & (1 << 12)) !== 0,
      isShared: (word & (1 << 13)) !== 0,
    };
  });
  return { sides, fork: head >> 4, voters };
}
