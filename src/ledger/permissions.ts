/**
 * Roles of accounts over time (state.md#roles, consensus.md#the-miner-queue). Every operation on
 * (address, role) is kept. The latest operation of each role is in one small row, which is read for
 * every sender.
 *
 * Invariants: two operations on one address and role never have the same timestamp (H-7); the row
 * in `roles` holds the operation with the highest timestamp, which may lie in the future.
 */
import type { Ledger, LedgerView } from './ledger.ts';
import { roleHistory, roleHolders, roles } from './tables.ts';

export interface RoleOp {
  readonly role: number;
  readonly timestamp: number;
  readonly add: boolean;
  /** The time at which the role ends, exclusive; undefined: never. */
  readonly due: number | undefined;
}

/** True where the operation, if it is the one that counts, gives the role at `time`. */
export const inForce = (op: RoleOp | undefined, time: number): op is RoleOp =>
  op?.add === true && (op.due === undefined || op.due > time);

/** The latest operation at or before `time`. */
export function roleOpAt(
  view: LedgerView,
  address: Uint8Array,
  role: number,
  time: number,
): RoleOp | undefined {
  const latest = latestOp(view, address, role);
  if (latest === undefined || latest.timestamp <= time) return latest;
  const { key } = roleHistory;
  const from = key.encode([address, role, 0]);
  const to = key.encode([address, role, time + 1]);
  for (const [[, , timestamp], op] of view.range(roleHistory, from, to, 1, true)) {
    return { role, timestamp, ...op };
  }
  return undefined;
}

/** The operation that gives the role at `time`, if the role is in force then. */
export function activeRole(
  view: LedgerView,
  address: Uint8Array,
  role: number,
  time: number,
): RoleOp | undefined {
  const op = roleOpAt(view, address, role, time);
  return inForce(op, time) ? op : undefined;
}

export const hasRole = (
  view: LedgerView,
  address: Uint8Array,
  role: number,
  time: number,
): boolean => activeRole(view, address, role, time) !== undefined;

/** The roles in force at `time`, in the order of their numbers. */
export function rolesAt(view: LedgerView, address: Uint8Array, time: number): readonly RoleOp[] {
  return (view.get(roles, address) ?? [])
    .map(({ role }) => activeRole(view, address, role, time))
    .filter((op) => op !== undefined)
    .sort((a, b) => a.role - b.role);
}

/** The last operations on roles, of those that are recorded for a time after `time`. */
export const changesAfter = (
  view: LedgerView,
  address: Uint8Array,
  time: number,
): readonly RoleOp[] =>
  (view.get(roles, address) ?? []).filter(({ timestamp }) => timestamp > time);

/** True if the role was changed at exactly this time; a second change is then refused (H-7). */
export const isChangedAt = (
  view: LedgerView,
  address: Uint8Array,
  role: number,
  time: number,
): boolean => view.get(roleHistory, [address, role, time]) !== undefined;

export function recordRoleOp(ledger: Ledger, address: Uint8Array, op: RoleOp): void {
  const { role, timestamp, add, due } = op;
  ledger.set(roleHistory, [address, role, timestamp], { add, due });
  ledger.set(roleHolders, [role, address], true);
  const ops = ledger.get(roles, address) ?? [];
  const latest = ops.find((other) => other.role === role);
  if (latest !== undefined && latest.timestamp > timestamp) return;
  const others = ops.filter((other) => other.role !== role);
  ledger.set(
    roles,
    address,
    [...others, op].sort((a, b) => a.role - b.role),
  );
}

/** The operation with the highest timestamp, which may lie in the future. */
export function latestOp(view: LedgerView, address: Uint8Array, role: number): RoleOp | undefined {
  const ops = view.get(roles, address);
  if (ops === undefined) return undefined;
  for (const op of ops) if (op.role === role) return op;
  return undefined;
}
