/**
 * The miners of a network, of which a majority must be connected (miner/obstacles.ts): one list says
 * how many there are, and which connected nodes count.
 */
import { latin1 } from '../base/bytes.ts';
import type { ConsensusView } from '../consensus/consensus.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { isParticipant } from '../ledger/participants.ts';
import { scripts } from '../ledger/tables.ts';

/**
 * The accounts whose role `miner` is in force at `now`, which is not before the head, that have no
 * script, and that are registered: a miner that was removed can never be connected. The nodes of a
 * network may all be registered under other accounts than those of their miners; then all miners
 * count.
 */
export function countedMiners(
  view: LedgerView,
  state: Pick<ConsensusView, 'minersAt' | 'isMiner'>,
  now: number,
): readonly Uint8Array[] {
  const able = (address: Uint8Array): boolean =>
    state.isMiner(address, now) && view.get(scripts, address) === undefined;
  const miners = state.minersAt(now).members.filter(able);
  const registered = miners.filter((address) => isParticipant(view, address));
  return registered.length > 0 ? registered : miners;
}

/** How many of them are among those connected. Two nodes of one account are one miner, as is `own`. */
export function connectedOf(
  counted: readonly Uint8Array[],
  connected: readonly Uint8Array[],
  own: Uint8Array,
): number {
  const others = new Set(connected.map(latin1));
  others.delete(latin1(own));
  return counted.filter((address) => others.has(latin1(address))).length;
}
