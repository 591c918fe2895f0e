/**
 * The author of a type 12 pays for the data of its sender (state.md#rules-of-each-type, H-13). One
 * that is not the sender has to sign beside the script of the sender.
 */
import { equal } from '../../base/bytes.ts';
import { refused } from '../../base/errors.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { scripts } from '../../ledger/tables.ts';

/** Throws ApiError where the sender has no script, which would let it make anybody pay. */
export function requireScriptBesideAuthor(sender: Uint8Array, view: LedgerView): void {
  if (view.get(scripts, sender) !== undefined) return;
  throw refused('The author of the data must be its sender, since that has no script');
}

/** Throws ApiError where the signature of this author is not its consent. */
export function requireKeyOfAuthor(author: Uint8Array, view: LedgerView): void {
  if (view.get(scripts, author) === undefined) return;
  throw refused('The author of the data has a script, so its signature is not enough');
}

/** Throws ApiError where this state takes no data of the sender from the author. */
export function requireAuthor(author: Uint8Array, sender: Uint8Array, view: LedgerView): void {
  if (equal(author, sender)) return;
  requireScriptBesideAuthor(sender, view);
  requireKeyOfAuthor(author, view);
}
