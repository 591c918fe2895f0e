/**
 * Whether another chain replaces ours (consensus.md#choice-between-forks): by its score, and for a
 * chain that ends with a late block also by how much better it is.
 */
import type { Header } from '../block/header.ts';
import { type Consensus, isBetter } from '../consensus/consensus.ts';
import type { Tip } from './tip.ts';

/** The end of a chain whose blocks up to `ancestor` are ours too. */
export interface Candidate {
  /** Height of the newest common block. */
  readonly ancestor: number;
  readonly header: Pick<Header, 'signature' | 'reference' | 'timestamp'>;
  /** Score of the whole chain. */
  readonly score: bigint;
}

/**
 * `late`: the score is better, but the block came after its turn, and one more block on our tip would
 * make ours the better one. A miner that withholds a block until its successor is there would
 * otherwise take the turn of that successor away. Chains that grow do not stay apart, because their
 * next blocks are in time.
 */
export type Standing = 'better' | 'late' | 'not-better';

export function standingOf(
  { ancestor, header, score }: Candidate,
  tip: Tip,
  consensus: Pick<Consensus, 'hasEnded' | 'score'>,
  now: number,
): Standing {
  const { signature: id, reference } = header;
  const current = { ...tip, reference: tip.header.reference };
  if (!isBetter({ score, id, reference }, current)) return 'not-better';
  if (ancestor === tip.height || !consensus.hasEnded(header, now)) return 'better';
  return score > tip.score + consensus.score(tip.header.consensus) ? 'better' : 'late';
}
