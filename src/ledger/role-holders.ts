/**
 * Who holds a role: all that ever did, and the last holder of a role without which a chain ends
 * (state.md#roles).
 *
 * A vital role may have its roll: the accounts that hold it or will, as rows of `vitalHolders` with
 * their number in `rollSizes`. The roll begins with `noteHolder` (feature 1002) and then has a bound;
 * before that, all accounts are read that ever had the role.
 *
 * Invariant: a roll contains every account whose role is in force at the time of the head or later.
 * Accounts whose role has ended by its due date stay in it until a full roll needs their place.
 */
import { compare } from '../base/bytes.ts';
import { prefix, prefixEnd, u8Key } from './key-codecs.ts';
import type { Ledger, LedgerView } from './ledger.ts';
import { hasRole, inForce, latestOp } from './permissions.ts';
import { BANNED, CONNECTION_MANAGER, MINER, PERMISSIONER } from './roles.ts';
import { roleHolders, rollSizes, vitalHolders } from './tables.ts';

/** The roles of which a network must always keep one permanent holder. */
export const VITAL_ROLES: readonly number[] = [MINER, PERMISSIONER, CONNECTION_MANAGER];

/** The most accounts that hold one vital role, or will, in a network with feature 1002. */
export const VITAL_HOLDERS_MAX = 1000;

const EVER_MAX = 1_000_000;

/** Every account for which the role was ever set, in the order of the addresses. */
export function* everHolders(view: LedgerView, role: number): Generator<Uint8Array> {
  const from = prefix([u8Key], role);
  for (const [[, address]] of view.range(roleHolders, from, prefixEnd(from), EVER_MAX)) {
    yield address;
  }
}

/** Contains every account that holds the role at the time of the head or later. */
export function* presentHolders(view: LedgerView, role: number): Generator<Uint8Array> {
  if (view.get(rollSizes, role) === undefined) {
    yield* everHolders(view, role);
    return;
  }
  const from = prefix([u8Key], role);
  for (const [[, address]] of view.range(vitalHolders, from, prefixEnd(from), EVER_MAX)) {
    yield address;
  }
}

/** True where the account holds the role at `now`, or may hold it later by what is recorded. */
function isPresent(view: LedgerView, address: Uint8Array, role: number, now: number): boolean {
  const op = latestOp(view, address, role);
  return op !== undefined && (op.timestamp > now || inForce(op, now));
}

/**
 * True where the roll has a place for the account: it is in it, or it is not full. Takes those out of
 * a full roll whose role has ended.
 */
export function hasPlace(ledger: Ledger, address: Uint8Array, role: number, now: number): boolean {
  const size = rollSize(ledger, role, now);
  if (size < VITAL_HOLDERS_MAX || ledger.get(vitalHolders, [role, address]) !== undefined) {
    return true;
  }
  for (const other of [...presentHolders(ledger, role)]) noteHolder(ledger, other, role, now);
  return rollSize(ledger, role, now) < VITAL_HOLDERS_MAX;
}

/** Brings the roll up to date after an operation on the account; `now` is the time of the block. */
export function noteHolder(ledger: Ledger, address: Uint8Array, role: number, now: number): void {
  const size = rollSize(ledger, role, now);
  const was = ledger.get(vitalHolders, [role, address]) !== undefined;
  const is = isPresent(ledger, address, role, now);
  if (was === is) return;
  if (is) ledger.set(vitalHolders, [role, address], true);
  else ledger.remove(vitalHolders, [role, address]);
  ledger.set(rollSizes, role, is ? size + 1 : size - 1);
}

/** The number of accounts in the roll, which begins where there is none. */
function rollSize(ledger: Ledger, role: number, now: number): number {
  const known = ledger.get(rollSizes, role);
  if (known !== undefined) return known;
  let size = 0;
  for (const address of everHolders(ledger, role)) {
    if (!isPresent(ledger, address, role, now)) continue;
    ledger.set(vitalHolders, [role, address], true);
    size += 1;
  }
  ledger.set(rollSizes, role, size);
  return size;
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
  for (const other of presentHolders(view, role)) {
    if (compare(other, address) !== 0 && isLastingHolder(view, other, role, now)) return false;
  }
  return true;
}

/** True where the role has begun, has no end, and no ban is in force or recorded for later. */
export function isLastingHolder(
  view: LedgerView,
  address: Uint8Array,
  role: number,
  now: number,
): boolean {
  const op = latestOp(view, address, role);
  if (!inForce(op, now) || op.timestamp > now || op.due !== undefined) return false;
  return !inForce(latestOp(view, address, BANNED), now) && !hasRole(view, address, BANNED, now);
}
