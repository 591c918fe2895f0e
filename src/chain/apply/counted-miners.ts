/**
 * The miners of a network, of which a majority must be connected (miner/mining-preconditions.ts): one list says
 * how many there are, and which connected nodes count.
 */
import { equal, latin1 } from '../../base/bytes.ts';
import type { ConsensusView } from '../../consensus/consensus.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { isParticipant } from '../../ledger/participants.ts';
import { scripts } from '../../ledger/tables.ts';

type MinerState = Pick<ConsensusView, 'minersAt' | 'isMiner'>;

/** The accounts whose role `miner` is in force at `now`, which is not before the head, that have no script. */
export const ableMiners = (
  view: LedgerView,
  state: MinerState,
  now: number,
): readonly Uint8Array[] =>
  state
    .minersAt(now)
    .members.filter(
      (address) => state.isMiner(address, now) && view.get(scripts, address) === undefined,
    );

/**
 * Those of them that are registered: a miner that was removed can never be connected. The nodes of a
 * network may all be registered under other accounts than those of their miners; then all miners
 * count.
 */
export function countedMiners(
  view: LedgerView,
  state: MinerState,
  now: number,
): readonly Uint8Array[] {
  const miners = ableMiners(view, state, now);
  const registered = miners.filter((address) => isParticipant(view, address));
  return registered.length > 0 ? registered : miners;
}

/**
 * The other ones that make a strict majority of them together with the own one. An account that does
 * not count, since its node is registered under another one, is none of the majority: else two parts
 * of a network whose accounts are of both kinds would each have one.
 */
export function othersOfMajority(counted: readonly Uint8Array[], own: Uint8Array): number {
  const majority = majorityOf(counted.length);
  return counted.some((address) => equal(address, own)) ? majority : majority + 1;
}

/** The other miners that make a strict majority of so many with one of them; of two both are needed. */
export const majorityOf = (miners: number): number => Math.floor(miners / 2);

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
