/**
 * Whether the sender may send the transaction (state.md#roles). A role must be in force both at the
 * timestamp of the transaction and at that of the block. So a sender cannot avoid a ban or a lost
 * role with a timestamp in the past (H-16).
 */
import { type ApiError, refused } from '../../base/errors.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { hasRole } from '../../ledger/permissions.ts';
import { BANNED, roleNumber, SENDER } from '../../ledger/roles.ts';
import { roles } from '../../ledger/tables.ts';
import type { BlockContext, Tx } from '../transaction.ts';

const NONE: readonly string[] = [];

const requiredRoles = (tx: Tx): readonly string[] => {
  const { roles: required } = tx.def;
  if (required === undefined) return NONE;
  return typeof required === 'function' ? required(tx) : required;
};

/** Throws ApiError. */
export function checkPermissions(tx: Tx, view: LedgerView, block: BlockContext): void {
  const required = requiredRoles(tx);
  const needsSender = block.rules.senderRoleEnabled;
  // Most senders have never had a role.
  if (required.length === 0 && !needsSender && view.get(roles, tx.sender) === undefined) return;
  if (isBannedSender(tx, view, block)) throw denied(tx, view, `Sender is 'banned'`);
  if (needsSender && !holds(tx, view, block, SENDER)) throw lacking(tx, view, 'sender');
  if (required.length === 0 || required.some((name) => holdsNamed(tx, view, block, name))) return;
  const [only] = required;
  throw required.length === 1 && only !== undefined
    ? lacking(tx, view, only)
    : denied(tx, view, `Doesn't have any of required roles: ${required.join(', ')}`);
}

/** True where an account may send what needs no role of its own, like the results of a contract. */
export const maySend = (by: Sending, view: LedgerView, block: BlockContext): boolean =>
  !isBannedSender(by, view, block) &&
  (!block.rules.senderRoleEnabled || holds(by, view, block, SENDER));

type Sending = Pick<Tx, 'sender' | 'timestamp'>;

const isBannedSender = (tx: Sending, view: LedgerView, block: BlockContext): boolean =>
  hasRole(view, tx.sender, BANNED, tx.timestamp) ||
  hasRole(view, tx.sender, BANNED, block.timestamp);

const holds = (tx: Sending, view: LedgerView, block: BlockContext, role: number): boolean =>
  hasRole(view, tx.sender, role, tx.timestamp) && hasRole(view, tx.sender, role, block.timestamp);

function holdsNamed(tx: Tx, view: LedgerView, block: BlockContext, name: string): boolean {
  const role = roleNumber(name);
  return role !== undefined && holds(tx, view, block, role);
}

const lacking = (tx: Tx, view: LedgerView, role: string): ApiError =>
  denied(tx, view, `Has no active '${role}' role`);

function denied(tx: Tx, view: LedgerView, reason: string): ApiError {
  const sender = view.scheme.addressToText(tx.sender);
  return refused(`PermissionError(Sender ${sender} permission validation failed: ${reason})`);
}
