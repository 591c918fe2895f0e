/**
 * Which role changes the state allows (state.md#rules-of-each-type, type 102).
 *
 * Invariant: a network that has a permanent miner, permissioner and connection manager keeps one of
 * each. Permanent means that an account holds the role without due date and is not banned.
 */
import { type ApiError, apiError, refused } from '../../base/errors.ts';
import type { Ledger, LedgerView } from '../../ledger/ledger.ts';
import { activeRole, isChangedAt, type RoleOp, recordRoleOp } from '../../ledger/permissions.ts';
import {
  hasPlace,
  isLastOfRole,
  noteHolder,
  VITAL_HOLDERS_MAX,
  VITAL_ROLES,
} from '../../ledger/role-holders.ts';
import { BANNED, CONTRACT_DEVELOPER, roleName } from '../../ledger/roles.ts';
import { scripts } from '../../ledger/tables.ts';
import type { BlockContext } from '../transaction.ts';
import { feature } from './features.ts';

/** Throws ApiError where the target is scripted and may not have the role. */
export function guardTarget(
  view: LedgerView,
  target: Uint8Array,
  role: number,
  { features }: Pick<BlockContext, 'features'>,
): void {
  if (role === CONTRACT_DEVELOPER || view.get(scripts, target) === undefined) return;
  if (role === BANNED && features.has(feature.bansOfScripted)) return;
  const account = view.scheme.addressToText(target);
  throw refused(`Account ${account} is scripted, so only the contract_developer role is allowed`);
}

/** Throws ApiError. `now` is the time of the block. */
export function guardChange(view: LedgerView, target: Uint8Array, op: RoleOp, now: number): void {
  const { role, timestamp } = op;
  const current = activeRole(view, target, role, Math.max(timestamp, now));
  if (op.add) {
    if (current !== undefined && current.due === undefined && op.due === undefined) {
      throw refused('Cannot assign role that is already active');
    }
  } else if (current === undefined) {
    throw refused('Cannot remove role that is already inactive');
  }
  if (isChangedAt(view, target, role, timestamp)) {
    const account = view.scheme.addressToText(target);
    throw refused(`Role '${roleName(role)}' of ${account} already changes at ${timestamp}`);
  }
  for (const lost of rolesLost(view, target, op, current, now)) {
    if (isLastOfRole(view, target, lost, now)) throw lastOfRole(view, target, lost);
  }
}

/** Vital roles that the target would no longer hold permanently. */
function rolesLost(
  view: LedgerView,
  target: Uint8Array,
  op: RoleOp,
  current: RoleOp | undefined,
  now: number,
): readonly number[] {
  if (op.add && op.role === BANNED) {
    return VITAL_ROLES.filter((role) => activeRole(view, target, role, now) !== undefined);
  }
  if (!VITAL_ROLES.includes(op.role) || current === undefined) return [];
  // A due date on a role without one is a removal announced in advance.
  return op.add && current.due !== undefined ? [] : [op.role];
}

/** Records the operation. Throws ApiError where too many accounts would hold a vital role. */
export function recordBounded(
  ledger: Ledger,
  target: Uint8Array,
  op: RoleOp,
  { features, timestamp: now }: BlockContext,
): void {
  const { role } = op;
  if (!features.has(feature.liveness) || !VITAL_ROLES.includes(role)) {
    recordRoleOp(ledger, target, op);
    return;
  }
  if (op.add && !hasPlace(ledger, target, role, now)) {
    const name = roleName(role) ?? String(role);
    throw refused(`No more than ${VITAL_HOLDERS_MAX} accounts can hold the role '${name}'`);
  }
  recordRoleOp(ledger, target, op);
  noteHolder(ledger, target, role, now);
}

export function lastOfRole(view: LedgerView, target: Uint8Array, role: number): ApiError {
  return apiError('LastOfRole', roleName(role) ?? String(role), view.scheme.addressToText(target));
}
