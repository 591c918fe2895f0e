/**
 * The last miner stays (state.md#the-last-miner, decision 37). An account can be relied on to make
 * blocks if it is registered, has no script, and holds the role miner, which has begun and lasts.
 *
 * Invariant from feature 1002 on: a network that has such an account keeps one. Types 102 and 111 are
 * the only ones that could take the last; an account whose role has begun or is to begin gets no
 * script by type 13.
 */
import type { Ledger, LedgerView } from '../../ledger/ledger.ts';
import { isParticipant } from '../../ledger/participants.ts';
import { latestOp } from '../../ledger/permissions.ts';
import { isLastingHolder, presentHolders } from '../../ledger/role-holders.ts';
import { BANNED, MINER } from '../../ledger/roles.ts';
import { scripts } from '../../ledger/tables.ts';
import type { BlockContext } from '../transaction.ts';
import { feature } from './features.ts';
import { lastOfRole } from './permit-rules.ts';

/**
 * Makes a change to the account `target`. Throws ApiError where it takes the last miner; what is
 * written then has to be reverted.
 */
export function keepingAMiner(
  ledger: Ledger,
  target: Uint8Array,
  { features, timestamp: now }: BlockContext,
  change: () => void,
): void {
  const isAtRisk = features.has(feature.liveness) && isReliable(ledger, target, now);
  change();
  if (!isAtRisk || isReliable(ledger, target, now)) return;
  for (const other of presentHolders(ledger, MINER)) {
    if (isReliable(ledger, other, now)) return;
  }
  throw lastOfRole(ledger, target, MINER);
}

/** `now` is the time of the block. No ban may be recorded for later, not even one that ends. */
const isReliable = (view: LedgerView, address: Uint8Array, now: number): boolean =>
  isLastingHolder(view, address, MINER, now) &&
  (latestOp(view, address, BANNED)?.timestamp ?? 0) <= now &&
  isParticipant(view, address) &&
  view.get(scripts, address) === undefined;
