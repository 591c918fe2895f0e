/**
 * Branches of a chain and the votes on them. Network, time and fork choice are left out: an honest voter
 * may vote for whatever the rules permit, a liar has voted for everything, and a block may be on any
 * branch, with any justification or none. So what holds here holds for every network.
 *
 * Heights are taken in order: two blocks at most, the votes on them, the next height. Nothing is lost by
 * it. What a voter does at a height depends on its votes at lower heights, and a block on the votes
 * for blocks below it, so every course of events has the same end as one in this order.
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
  justified,
  root,
  spacing,
  type Voters,
} from './chain.ts';
import { problemOfLife } from './life.ts';
import type { Rules } from './rules.ts';
import type { Model } from './search.ts';

export interface World {
  readonly rules: Rules;
  readonly heights: number;
  /** The first votes at the root; the state may entitle any of them from any block on. */
  readonly sets: readonly Voters[];
  readonly liars: Voters;
  /** Voters may lose their notes (model D). */
  readonly canForget: boolean;
  /** From every state on, silent liars do not keep honest voters from finality (model C). */
  readonly mustLive: boolean;
}

export interface Voter {
  readonly name: number;
  readonly last: Link;
  /** Sources of the votes at this height, for block a and block b. */
  readonly voted: readonly [number | undefined, number | undefined];
  /** Of one that lost its note: the last vote of its life before, and the chains on which it voted then. */
  readonly before: { readonly last: Link; readonly slots: number } | undefined;
}

export interface Branches {
  readonly height: number;
  /** One or two, which end with blocks a and b of this height. */
  readonly chains: readonly Chain[];
  /** Their highest common block. */
  readonly fork: number;
  /** Branches that end below, where they have something justified that the others have not. */
  readonly left: readonly Chain[];
  readonly voters: readonly Voter[];
}

const NAMES = 'ab';
const NONE = 15;

export function branches(world: World): Model<Branches> {
  const { rules, sets, liars } = world;
  const honest = bits(sets.reduce((all, set) => all | set, 0) & ~liars);
  const first = sets[0]!;
  const roots = rules.hasOwnRoots ? [root(first, 1), root(first, 1)] : [root(first)];
  return {
    start: {
      height: roots[0]!.height,
      chains: roots,
      fork: 0,
      left: [],
      voters: honest.map((name) => ({
        name,
        last: { source: 0, target: roots[0]!.height },
        voted: [undefined, undefined],
        before: undefined,
      })),
    },
    words: 1 + 2 * (world.mustLive ? 4 : 2) + honest.length,
    pack: (state, into) => pack(state, world, into),
    unpack: (words) => unpack(words, honest, world),
    steps(state, take) {
      if (world.mustLive) votes(state, world, take);
      else quorums(state, world, take);
      if (world.canForget) losses(state, world, take);
      if (state.height < world.heights) nextHeight(state, world, take);
    },
    problem: (state) =>
      problemOfSafety(state, world) ??
      (world.mustLive ? problemOfLife(ends(state, world), state, world) : undefined),
  };
}

type Take = (next: Branches, say: () => string) => void;

/** The sources with which the block of a chain is justified: one, where sources are not local. */
function justifyingSource(state: Branches, slot: number, world: World): number | undefined {
  const chain = state.chains[slot]!;
  for (const source of new Set(state.voters.map(({ voted }) => voted[slot]))) {
    if (source === undefined) continue;
    let voted = world.liars;
    for (const voter of state.voters) {
      if (voter.voted[slot] === source) voted |= bit(voter.name);
    }
    if (isEnough(chain, voted, world.rules)) return source;
  }
  return undefined;
}

/** The chains with what the votes at this height have justified. */
function ends(state: Branches, world: World): Chain[] {
  return state.chains.map((chain, slot) => {
    const source = justifyingSource(state, slot, world);
    return source === undefined ? chain : justified(chain, source, world.rules);
  });
}

/** Height of the block that the last block of a chain makes final, or undefined. */
const newFinal = (chain: Chain, rules: Rules): number | undefined =>
  has(chain.finalising, chain.height) ? chain.height - spacing(chain, rules) : undefined;

function problemOfSafety(state: Branches, world: World): string | undefined {
  const { rules } = world;
  const done = ends(state, world);
  const isJustified = done.map((chain) => has(chain.uncarried, chain.height));
  const finals = done.map((chain) => newFinal(chain, rules));
  const conflict = finals.findIndex(
    (final, slot) =>
      final !== undefined &&
      (done[slot]!.isOffFinal || (finals[1 - slot] !== undefined && state.fork < final)),
  );
  if (conflict >= 0) {
    return `the block at height ${finals[conflict]} below ${block(state.height, conflict)} is final, and a final block of another branch conflicts with it`;
  }
  if (isJustified[0] && isJustified[1]) return `two blocks at height ${state.height} are justified`;
  const off = done.findIndex((chain, slot) => isJustified[slot] && chain.isOffFinal);
  if (off >= 0) {
    return `${block(state.height, off)} is justified, and a final block below it is on another branch`;
  }
  return undefined;
}

const block = (height: number, slot: number): string => `${height}${NAMES[slot]}`;

/** Single votes, in any number: each binds its voter, which matters for what honest voters can do later. */
function votes(state: Branches, world: World, take: Take): void {
  for (const slot of state.chains.keys()) {
    for (const source of sourcesFor(state.chains[slot]!, world.rules)) {
      const tried = new Set<number>();
      for (const voter of whoMayVote(state, slot, source, world)) {
        const alike = wordOf(voter, state.height, world);
        if (tried.has(alike)) continue;
        tried.add(alike);
        cast(state, [voter], slot, source, take);
      }
    }
  }
}

/**
 * The smallest sets of votes that justify a block, each as one step. Further votes bind their voters and
 * serve nobody: where a schedule with them breaks safety, the same schedule without them does.
 */
function quorums(state: Branches, world: World, take: Take): void {
  for (const [slot, chain] of state.chains.entries()) {
    if (justifyingSource(state, slot, world) !== undefined) continue;
    const voters = whoMayVote(state, slot, chain.source, world);
    const words = voters.map((voter) => wordOf(voter, state.height, world));
    const equals = words.map((word, i) =>
      words.reduce((all, other, k) => (k < i && other === word ? all | bit(k) : all), 0),
    );
    for (let mask = 1; mask < bit(voters.length); mask++) {
      // Of equal voters the first ones vote.
      if (!equals.every((before, i) => !has(mask, i) || (mask & before) === before)) continue;
      const chosen = voters.filter((_, i) => has(mask, i));
      const all = chosen.reduce((sum, { name }) => sum | bit(name), world.liars);
      const isSmallest = chosen.every(
        ({ name }) => !isEnough(chain, all & ~bit(name), world.rules),
      );
      if (isSmallest && isEnough(chain, all, world.rules)) {
        cast(state, chosen, slot, chain.source, take);
      }
    }
  }
}

function whoMayVote(state: Branches, slot: number, source: number, world: World): Voter[] {
  const { rules } = world;
  const chain = state.chains[slot]!;
  if (chain.height % spacing(chain, rules) !== 0) return [];
  const members = rules.decidingSets(chain.deciding).reduce((all, set) => all | set, 0);
  return state.voters.filter(
    (voter) =>
      has(members, voter.name) &&
      voter.voted[slot] === undefined &&
      rules.mayVote(isFromBefore(voter, slot) ? voter.before!.last : voter.last, {
        source,
        target: chain.height,
      }),
  );
}

/**
 * Who lost its note goes on from a final block that is younger than the loss, on the branch of that
 * block. Votes of its life before are older, so they are for other branches, whatever their heights.
 */
const isFromBefore = ({ before }: Voter, slot: number): boolean =>
  before !== undefined && has(before.slots, slot);

function cast(
  state: Branches,
  chosen: readonly Voter[],
  slot: number,
  source: number,
  take: Take,
): void {
  const next = { source, target: state.height };
  const voters = state.voters.map((voter): Voter => {
    if (!chosen.includes(voter)) return voter;
    const lock = isFromBefore(voter, slot)
      ? { before: { ...voter.before!, last: next } }
      : { last: next };
    return {
      ...voter,
      ...lock,
      voted: slot === 0 ? [source, voter.voted[1]] : [voter.voted[0], source],
    };
  });
  const names = chosen.map(({ name }) => name).join(', ');
  take({ ...state, voters }, () => `${names}: vote ${source} → ${block(state.height, slot)}`);
}

const sourcesFor = (chain: Chain, rules: Rules): number[] =>
  rules.hasLocalSources ? [chain.source, ...bits(chain.uncarried)] : [chain.source];

/**
 * A voter without a note goes on with a final block. It is older than the loss, which the rule must refuse;
 * or younger, so that the voter gave it no vote. The margin of heights in the rule is left out here:
 * safety does not need it.
 */
function losses(state: Branches, world: World, take: Take): void {
  const done = ends(state, world);
  const older = [
    0,
    ...done.flatMap(({ finalising }) => bits(finalising).map((child) => child - 1)),
  ];
  for (const voter of state.voters) {
    if (voter.before !== undefined) continue;
    for (const final of new Set(older)) goOn(state, voter, { at: final, final }, 0, world, take);
    for (const [slot, chain] of done.entries()) {
      const final = newFinal(chain, world.rules);
      if (final === undefined || voter.voted[slot] !== undefined) continue;
      const isOff = state.chains.length > 1 && state.fork < final;
      goOn(state, voter, { at: final - 1, final }, isOff ? bit(1 - slot) : 0, world, take);
    }
  }
}

function goOn(
  state: Branches,
  voter: Voter,
  { at, final }: { readonly at: number; readonly final: number },
  slots: number,
  { rules }: World,
  take: Take,
): void {
  const last = rules.noteAfterLoss({ finalAtStart: at, maxRollback: 0 }, final);
  if (last === undefined) return;
  const before = slots === 0 ? undefined : { last: voter.last, slots };
  const voters = state.voters.map((other) =>
    other === voter ? { ...voter, last, before } : other,
  );
  const says = `${voter.name}: has lost its note, goes on above the final block ${final}`;
  take({ ...state, voters }, () => says);
}

/** One block, or two that differ or have different parents or are equal: each a chain of its own. */
function nextHeight(state: Branches, world: World, take: Take): void {
  const { rules } = world;
  const height = state.height + 1;
  const done = ends(state, world);
  const finals = done.map((chain) => newFinal(chain, rules));
  const parents = done.map((chain, slot) => {
    const other = finals[1 - slot];
    return {
      ...chain,
      isOffFinal: chain.isOffFinal || (other !== undefined && other > state.fork),
    };
  });
  const made = parents.flatMap((parent, slot) =>
    [undefined, ...carriable(parent, rules)].flatMap((carried) =>
      changesOf(parent, carried, world).map((chain) => ({
        slot,
        chain,
        say: `on ${block(state.height, slot)}${carried === undefined ? '' : `, carries the justification of height ${carried}`}${sayChange(parent, chain)}`,
      })),
    ),
  );
  for (const [i, a] of made.entries()) {
    for (const b of [undefined, ...made.slice(i)]) {
      const pair = b === undefined ? [a] : [a, b];
      const isSplit = b !== undefined && a.slot !== b.slot;
      const chains = pair.map(({ chain }) => chain);
      const unused = parents.filter((_, slot) => pair.every((one) => one.slot !== slot));
      const voters = state.voters.map((voter) =>
        afterwards(
          voter,
          pair.map(({ slot }) => slot),
        ),
      );
      const left = world.mustLive ? stillWanted([...state.left, ...unused], chains) : [];
      take({ height, chains, fork: isSplit ? state.fork : height - 1, left, voters }, () =>
        pair.map(({ say }, slot) => `block ${block(height, slot)} ${say}`).join('; '),
      );
    }
  }
}

/** A voter at the next height, where the chain of each slot continues that of `parents[slot]`. */
function afterwards(voter: Voter, parents: readonly number[]): Voter {
  const slots = parents.reduce(
    (mask, parent, slot) => mask | (isFromBefore(voter, parent) ? bit(slot) : 0),
    0,
  );
  const before = slots === 0 ? undefined : { last: voter.before!.last, slots };
  return { ...voter, voted: [undefined, undefined], before };
}

/** A block more, once for each effect that the roles in its state may have. */
function changesOf(parent: Chain, carried: number | undefined, { rules, sets }: World): Chain[] {
  const all = sets.map((entitled) => extended(parent, carried, entitled, rules));
  return all.filter((one, i) => all.findIndex((other) => isSame(one.sets, other.sets)) === i);
}

const isSame = (a: Chain['sets'], b: Chain['sets']): boolean =>
  a.current === b.current && a.next?.voters === b.next?.voters && a.next?.since === b.next?.since;

function sayChange(parent: Chain, { sets: { current, next } }: Chain): string {
  if (current !== parent.sets.current) return `, completes the change to ${bits(current)}`;
  if (isSame({ change: 0, current, next }, parent.sets)) return '';
  return next === undefined
    ? ', gives the change up'
    : `, begins the change to ${bits(next.voters)}`;
}

export const highestJustified = ({ source, uncarried }: Chain): number =>
  Math.max(source, ...bits(uncarried));

/** Of the branches that were left, those with the highest source and with the highest justified block. */
function stillWanted(left: readonly Chain[], chains: readonly Chain[]): Chain[] {
  const wanted: Chain[] = [];
  for (const rank of [({ source }: Chain) => source, highestJustified]) {
    const known = Math.max(...[...chains, ...wanted].map(rank));
    const best = left.reduce<Chain | undefined>(
      (a, b) => (a === undefined || rank(b) > rank(a) ? b : a),
      undefined,
    );
    if (best !== undefined && rank(best) > known) wanted.push(best);
  }
  return wanted;
}

/** Voters of equal sets are equal. */
const classOf = (name: number, { sets }: World): number =>
  sets.reduce((mask, set, i) => mask | (has(set, name) ? bit(i) : 0), 0);

/** Of the heights of last votes it matters only whether they are this one. */
function wordOf({ name, last, voted, before }: Voter, height: number, world: World): number {
  return (
    classOf(name, world) * 2 ** 20 +
    (last.source |
      (last.target >= height ? 1 << 4 : 0) |
      ((voted[0] ?? NONE) << 5) |
      ((voted[1] ?? NONE) << 9) |
      (before === undefined ? 0 : before.slots << 13) |
      ((before?.last.source ?? 0) << 15) |
      (before !== undefined && before.last.target >= height ? 1 << 19 : 0))
  );
}

function pack(state: Branches, world: World, into: Uint32Array): void {
  const { chains, left, voters } = state;
  into.fill(0);
  into[0] = state.height | (state.fork << 4) | (chains.length << 8) | (left.length << 12);
  let at = 1;
  for (const chain of [...chains, ...left]) {
    into[at++] =
      chain.height |
      (chain.source << 4) |
      (chain.uncarried << 8) |
      (chain.isOffFinal ? 1 << 18 : 0) |
      (packSets(chain.sets, world) << 19);
    into[at++] = chain.finalising | (packSets(chain.deciding, world) << 10);
  }
  const sources = [...chains, ...left].reduce(
    (all, { source, uncarried }) => all | bit(source) | uncarried,
    0,
  );
  const words = voters
    .map((voter) => wordOf(withEqualLocks(voter, sources, state.height), state.height, world))
    .sort((a, b) => a - b);
  into.set(words, into.length - words.length);
}

/**
 * Locks are the same where the same sources of the future satisfy them: justified blocks of a branch
 * (a set of their heights), and all heights from here on.
 */
function withEqualLocks(voter: Voter, sources: number, height: number): Voter {
  const equal = (lock: Link): Link => {
    const least = lowest((sources | bit(height)) & -bit(lock.source));
    return least === lock.source ? lock : { ...lock, source: least };
  };
  const { last, before } = voter;
  return { ...voter, last: equal(last), before: before && { ...before, last: equal(before.last) } };
}

const lowest = (set: number): number => 31 - Math.clz32(set & -set);

const packSets = ({ current, next }: Chain['sets'], { sets }: World): number =>
  sets.indexOf(current) |
  (next === undefined ? 0 : ((sets.indexOf(next.voters) + 1) << 2) | (next.since << 4));

function unpack(words: Uint32Array, honest: readonly number[], world: World): Branches {
  const [head] = words as unknown as [number];
  const count = (head >> 8) & 15;
  const all: Chain[] = [];
  for (let i = 0; i < count + ((head >> 12) & 15); i++) {
    const one = words[1 + 2 * i]!;
    const two = words[2 + 2 * i]!;
    all.push({
      height: one & 15,
      source: (one >> 4) & 15,
      uncarried: (one >> 8) & 1023,
      finalising: two & 1023,
      deciding: unpackSets((two >> 10) & 1023, world),
      sets: unpackSets(one >>> 19, world),
      isOffFinal: (one & (1 << 18)) !== 0,
    });
  }
  const height = head & 15;
  const packed = words.subarray(words.length - honest.length);
  return {
    height,
    chains: all.slice(0, count),
    fork: (head >> 4) & 15,
    left: all.slice(count),
    voters: byClass(honest, world).map((name, i) => unpackVoter(packed[i]!, name, height)),
  };
}

const byClass = (honest: readonly number[], world: World): number[] =>
  [...honest].sort((a, b) => classOf(a, world) - classOf(b, world));

function unpackVoter(word: number, name: number, height: number): Voter {
  const field = (shift: number): number => (word >> shift) & 15;
  const optional = (shift: number): number | undefined =>
    field(shift) === NONE ? undefined : field(shift);
  const lock = (source: number, isNow: number): Link => ({
    source,
    target: (word & bit(isNow)) !== 0 ? height : 0,
  });
  const slots = (word >> 13) & 3;
  return {
    name,
    last: lock(field(0), 4),
    voted: [optional(5), optional(9)],
    before: slots === 0 ? undefined : { last: lock(field(15), 19), slots },
  };
}

function unpackSets(packed: number, { sets }: World): Chain['sets'] {
  const next = (packed >> 2) & 3;
  return {
    change: 0,
    current: sets[packed & 3]!,
    next: next === 0 ? undefined : { voters: sets[next - 1]!, since: packed >> 4 },
  };
}
