/** How many miners a network has, of which a majority must be connected (miner/obstacles.ts). */
import type { ConsensusView } from '../consensus/consensus.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { isParticipant } from '../ledger/participants.ts';

/**
 * The accounts whose role `miner` is in force at `now`, which is not before the head, and that are
 * registered: a miner that was removed can never be connected. The nodes of a network may all be
 * registered under other accounts than those of their miners; then all miners count.
 */
export function minerCount(
  view: LedgerView,
  state: Pick<ConsensusView, 'minersAt' | 'isMiner'>,
  now: number,
): number {
  const miners = state.minersAt(now).members.filter((address) => state.isMiner(address, now));
  return miners.filter((address) => isParticipant(view, address)).length || miners.length;
}
