/**
 * Whether another chain replaces ours (consensus.md#choice-between-forks): by its score, and for a
 * short branch with late blocks also by how much better it is.
 */
import { compare } from '../../base/bytes.ts';
import type { Header } from '../../block/header.ts';
import { type Consensus, isBetter } from '../../consensus/consensus.ts';
import type { Tip } from '../tip.ts';

/**
 * Blocks that a late branch must be clearly better to replace. Of more blocks the score alone
 * decides: two parts of a network whose blocks reach each other late in every round would otherwise
 * stay apart, and a miner that withholds its blocks falls behind the others long before.
 */
export const LATE_DEPTH_MAX = 10;

/**
 * Rounds without a block on our tip after which lateness does not count either: our chain may have
 * no miner left but on the other branch.
 */
export const STANDSTILL_ROUNDS = 20;

type Rules = Pick<Consensus, 'hasEnded' | 'kind' | 'score'>;

/** A chain whose blocks up to `ancestor` are ours too. */
export interface Candidate {
  /** Height of the newest common block. */
  readonly ancestor: number;
  /** The first block above the ancestor. */
  readonly first: Pick<Header, 'timestamp'>;
  /** The last one. */
  readonly header: Pick<Header, 'signature' | 'reference' | 'timestamp'>;
  /** Score of the whole chain. */
  readonly score: bigint;
  /** Ids of the first blocks above the ancestor; absent where no tie of long branches is decided. */
  readonly parting?: { readonly theirs: Uint8Array; readonly ours: Uint8Array } | undefined;
}

/**
 * `late`: the score is better, but the end came after its turn, and one more block on our tip would
 * make ours the better one. A miner that withholds a block until its successor is there would
 * otherwise take the turn of that successor away. Where the end is in time and the beginning is not,
 * it has to be better by half a block: one of three miners that withholds a block until its own next
 * turn makes as many blocks as the others, of a score that is better by a trifle. Chains that grow
 * do not stay apart, because their next blocks are in time.
 */
export type Standing = 'better' | 'late' | 'not-better';

export function standingOf(
  candidate: Candidate,
  tip: Tip,
  consensus: Rules,
  now: number,
): Standing {
  const { ancestor, first, header, score } = candidate;
  const { signature: id, reference, timestamp } = header;
  const current = { ...tip.header, id: tip.id, score: tip.score };
  if (!isBetter({ score, id, reference, timestamp }, current, consensus.kind)) {
    return winsTie(candidate, tip) ? 'better' : 'not-better';
  }
  const depth = tip.height - ancestor;
  if (depth === 0 || depth > LATE_DEPTH_MAX || !consensus.hasEnded(first, now)) return 'better';
  if (consensus.hasEnded(tip.header, now, STANDSTILL_ROUNDS)) return 'better';
  const block = consensus.score(tip.header.consensus);
  const lead = consensus.hasEnded(header, now) ? block : block / 2n;
  return score > tip.score + lead ? 'better' : 'late';
}

/**
 * Two parts of a network that make each block at the same moment are as good as each other in every
 * round, so no next block decides. Of long branches the one that parted with the lower id wins.
 */
const winsTie = ({ ancestor, score, parting }: Candidate, tip: Tip): boolean =>
  parting !== undefined &&
  score === tip.score &&
  tip.height - ancestor > LATE_DEPTH_MAX &&
  compare(parting.theirs, parting.ours) < 0;
