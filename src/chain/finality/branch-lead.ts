/**
 * Which of two branches has the higher justified block (finality.md#fork-choice). Votes name blocks by their
 * header hashes, and who decides on a block is known for sure only once its branch is applied.
 */
import { latin1 } from '../../base/bytes.ts';
import { type Header, headerHash } from '../../block/header.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { justificationOf, type VotedBlock } from '../../finality/carried.ts';
import type { Finality } from '../../finality/finality.ts';
import { rules as finalityRules } from '../../finality/rules.ts';
import { ancestorAt } from '../../finality/tracked-block.ts';
import { decidingOn, type VoterSet } from '../../finality/votes/voter-set.ts';
import type { VoterSets } from '../../finality/votes/voter-sets.ts';
import type { AppliedBlock } from '../apply/block-applier.ts';
import type { Tip } from '../tip.ts';
import type { FinalityIndex } from './finality-index.ts';
import { carriedBy } from './finality-rules.ts';
import { ChainBlocks } from './finality-state.ts';

export interface VotesOfChain {
  readonly engine: Pick<Finality, 'tracker' | 'pool'>;
  readonly index: FinalityIndex;
  /** Height of the root. */
  readonly root: number;
  readonly scheme: ChainScheme;
}

export type Lead = 'ours' | 'theirs' | undefined;

/** Which has the higher justified block, as far as is known before the branch is applied. */
export function leadOf(
  of: VotesOfChain,
  tip: Tip,
  ancestor: number,
  branch: readonly Header[],
): Lead {
  const own = justifiedAbove(of, tip, ancestor);
  const theirs = claimedAbove(of, tip, ancestor, branch);
  return own === theirs ? undefined : own > theirs ? 'ours' : 'theirs';
}

/** Height of the highest justified block of the own chain above a height, or 0. */
function justifiedAbove({ index, engine }: VotesOfChain, tip: Tip, ancestor: number): number {
  const head = index.at(tip);
  return (head && engine.tracker.justifiedBelow(head, ancestor)?.height) ?? 0;
}

/** No justified block of the branch is higher, but for a change of voters in it that nobody carries. */
function claimedAbove(
  { index, engine, scheme }: VotesOfChain,
  tip: Tip,
  ancestor: number,
  branch: readonly Header[],
): number {
  const hashes = branch.map((header) => latin1(headerHash(header, scheme)));
  const carried = new Set(branch.map((header) => targetOf(header, scheme)));
  const head = index.at(tip);
  const below = head && ancestorAt(head, ancestor, index);
  for (let i = hashes.length - 1; i >= 0; i--) {
    const id = hashes[i]!;
    const voters = new Set(Array.from(engine.pool.kept.for(id), ({ voter }) => latin1(voter)));
    const isVoted = below !== undefined && mayBeQuorum(below.leaves, (name) => voters.has(name));
    if (carried.has(id) || isVoted || engine.tracker.isJustified(id)) return ancestor + 1 + i;
  }
  return 0;
}

/** The same for a branch that is applied, and exact. */
export function exactLead(
  of: VotesOfChain,
  tip: Tip,
  ancestor: number,
  branch: readonly AppliedBlock[],
): Lead {
  const own = justifiedAbove(of, tip, ancestor);
  const theirs = justifiedIn(of, branch);
  return own === theirs ? undefined : own > theirs ? 'ours' : 'theirs';
}

function justifiedIn(of: VotesOfChain, branch: readonly AppliedBlock[]): number {
  const last = branch.at(-1);
  if (last === undefined) return 0;
  const headers = new Map(branch.map(({ height, row }) => [height, row.header]));
  const chain = new ChainBlocks(last.overlay, headers, of.root);
  const carried = new Set(branch.map(({ row }) => targetOf(row.header, of.scheme)));
  for (const { height } of [...branch].reverse()) {
    const block = chain.at(height);
    if (block === undefined) return 0;
    if (carried.has(latin1(block.checkpoint.id)) || isVotedFor(of, block)) return height;
  }
  return 0;
}

/**
 * Whether these voters may be a quorum for a block whose chain is not known: of one of the sets that a known
 * block leaves. Who decides on the other block may be neither of them alone.
 */
export const mayBeQuorum = (
  { current, next }: VoterSets<VoterSet>,
  has: (name: string) => boolean,
): boolean =>
  [current, ...(next === undefined ? [] : [next.voters])].some(
    ({ names }) => [...names].filter(has).length >= finalityRules.quorum(names.size),
  );

function isVotedFor({ engine, scheme }: VotesOfChain, block: VotedBlock): boolean {
  const deciding = decidingOn(block.deciding, scheme);
  const votes = engine.pool.kept.for(latin1(block.checkpoint.id));
  return justificationOf(block, deciding, votes, finalityRules.quorum) !== undefined;
}

/** Text of the header hash of the block whose justification a block carries. */
function targetOf(header: Header, scheme: ChainScheme): string | undefined {
  try {
    const target = carriedBy(header, scheme)?.target;
    return target && latin1(target.id);
  } catch {
    // It is refused when it is applied.
    return undefined;
  }
}
