/**
 * Roles of accounts over time (state.md#roles, consensus.md#the-miner-queue). Every operation on
 * (address, role) is kept. The latest operation of each role is in one small row, which is read for
 * every sender.
 *
 * Invariants: two operations on one address and role never have the same timestamp (H-7); the row
 * in `roles` holds the operation with the highest timestamp, which may lie in the future.
 */
import { compare } from '../base/bytes.ts';
import { inOneGo, listInSteps, sortInSteps } from '../base/turns.ts';
import { prefix, prefixEnd, u8Key } from './key-codecs.ts';
import type { Ledger, LedgerView } from './ledger.ts';
import { BANNED, CONNECTION_MANAGER, MINER, PERMISSIONER } from './roles.ts';
import { roleHistory, roleHolders, roles } from './tables.ts';

export interface RoleOp {
  readonly role: number;
  readonly timestamp: number;
  readonly add: boolean;
  /** The time at which the role ends, exclusive; undefined: never. */
  readonly due: number | undefined;
}

/** The roles of which a network must always keep one permanent holder. */
export const VITAL_ROLES: readonly number[] = [MINER, PERMISSIONER, CONNECTION_MANAGER];

const HOLDERS_MAX = 1_000_000;

const inForce = (op: RoleOp | undefined, time: number): op is RoleOp =>
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

/**
 * The queue of miners, ordered by the time of the operation that gave the role, then by address
 * (H-7). A role given again puts the miner at the end of the queue.
 */
export const currentMiners = (view: LedgerView, time: number): readonly Uint8Array[] =>
  inOneGo(minersInSteps(view, time));

interface Queued {
  readonly address: Uint8Array;
  /** Time of the operation that gave the role. */
  readonly since: number;
}

/** The same queue as work in steps. */
export function* minersInSteps(
  view: LedgerView,
  time: number,
): Generator<undefined, readonly Uint8Array[]> {
  const queue = yield* listInSteps(queuedMiners(view, time));
  const bySince = (a: Queued, b: Queued) => a.since - b.since || compare(a.address, b.address);
  return (yield* sortInSteps(queue, bySince)).map(({ address }) => address);
}

/** Undefined for each former miner. */
function* queuedMiners(view: LedgerView, time: number): Generator<Queued | undefined> {
  for (const address of everHolders(view, MINER)) {
    const op = activeRole(view, address, MINER, time);
    yield op && { address, since: op.timestamp };
  }
}

/**
 * True if no other account would keep the role permanently. A successor must hold it now without
 * due date, must not be banned, and no recorded operation for a later time may change either.
 */
export function isLastOfRole(
  view: LedgerView,
  address: Uint8Array,
  role: number,
  now: number,
): boolean {
  for (const other of everHolders(view, role)) {
    if (compare(other, address) !== 0 && isLastingHolder(view, other, role, now)) return false;
  }
  return true;
}

function isLastingHolder(
  view: LedgerView,
  address: Uint8Array,
  role: number,
  now: number,
): boolean {
  const op = latestOp(view, address, role);
  if (!inForce(op, now) || op.timestamp > now || op.due !== undefined) return false;
  return !inForce(latestOp(view, address, BANNED), now) && !hasRole(view, address, BANNED, now);
}

function latestOp(view: LedgerView, address: Uint8Array, role: number): RoleOp | undefined {
  const ops = view.get(roles, address);
  if (ops === undefined) return undefined;
  for (const op of ops) if (op.role === role) return op;
  return undefined;
}

function* everHolders(view: LedgerView, role: number): Generator<Uint8Array> {
  const from = prefix([u8Key], role);
  for (const [[, address]] of view.range(roleHolders, from, prefixEnd(from), HOLDERS_MAX)) {
    yield address;
  }
}
