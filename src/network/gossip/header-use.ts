/**
 * The use of an announced block, judged by its header alone. Nothing is fetched for a block that
 * neither improves the chain nor proves that its miner made two blocks in one turn, nor for one of a
 * turn that is left to sync (judge-announced.ts).
 */

import { equal } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Header } from '../../block/header.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import { standingOf } from '../../chain/fork/chain-choice.ts';
import type { Equivocations } from '../../chain/fork/equivocation.ts';
import type { InvalidBlocks } from '../../chain/fork/invalid-blocks.ts';
import { heightOf } from '../../chain/store/stored-blocks.ts';
import { type Tip, tipWith } from '../../chain/tip.ts';
import type { Consensus } from '../../consensus/consensus.ts';
import type { AnnouncedJudge } from './judge-announced.ts';
import type { TurnCounts } from './turn-counts.ts';

/**
 * The next block; the end of a better branch; a second block of one turn, which is fetched and
 * relayed as evidence.
 */
export type Use = 'child' | 'fork' | 'evidence';

export interface HeaderUsePorts {
  readonly blockchain: Blockchain;
  readonly consensus: Consensus;
  readonly clock: Pick<Clock, 'now'>;
  readonly invalid: Pick<InvalidBlocks, 'has'>;
  readonly equivocations: Pick<Equivocations, 'isThird'>;
  /** Counts the relayed blocks of each generator and turn. */
  readonly relayed: Pick<TurnCounts, 'isReached'>;
  readonly judge: Pick<AnnouncedJudge, 'isSpent'>;
}

/**
 * The use according to the score that the header claims; `orphan` where this node does not have the
 * parent.
 */
export function useOf(header: Header, ports: HeaderUsePorts): Use | 'orphan' | undefined {
  const { blockchain, consensus, clock, invalid, equivocations, relayed, judge } = ports;
  const { view } = blockchain;
  const id = header.signature;
  if (heightOf(view, id) !== undefined || invalid.has(id)) return undefined;
  const parent = tipWith(header.reference, view);
  if (parent === undefined) return 'orphan';
  if (judge.isSpent(header)) return undefined;
  const tip = blockchain.tip();
  const score = parent.score + consensus.score(header.consensus);
  const candidate = { ancestor: parent.height, first: header, header, score };
  if (standingOf(candidate, tip, consensus, clock.now()) === 'better') {
    if (parent.height === tip.height) return 'child';
    return equivocations.isThird(header) ? undefined : 'fork';
  }
  return isTwin(header, tip, consensus) && !relayed.isReached(header) ? 'evidence' : undefined;
}

/** The block would take the place of the head. */
export const isReplacing = (use: Use | 'orphan' | undefined): boolean =>
  use === 'child' || use === 'fork';

/** The other block of a miner that made two in one turn: as good as the head in every respect. */
function isTwin(header: Header, tip: Tip, consensus: Consensus): boolean {
  const { generator, reference } = tip.header;
  return (
    equal(header.generator, generator) &&
    equal(header.reference, reference) &&
    consensus.turnOf(header) === consensus.turnOf(tip.header) &&
    consensus.score(header.consensus) === consensus.score(tip.header.consensus)
  );
}
