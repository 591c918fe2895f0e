/** Recipients as addresses: an alias stands for the address that registered it. */
import { refused } from '../../base/errors.ts';
import { aliasOwner } from '../../ledger/aliases.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { aliasToText, type Recipient } from '../fields/recipient.ts';

/** Throws ApiError where the alias is not registered. */
export function resolve(view: LedgerView, recipient: Recipient): Uint8Array {
  const address = resolved(view, recipient);
  if (address !== undefined) return address;
  const alias = recipient.kind === 'alias' ? aliasToText(recipient.name, view.scheme) : '';
  throw refused(`AliasDoesNotExist(${alias})`);
}

/** The address, or undefined while the alias is not registered. */
const resolved = (view: LedgerView, recipient: Recipient): Uint8Array | undefined =>
  recipient.kind === 'address' ? recipient.bytes : aliasOwner(view, recipient.name);

/** The addresses of the recipients that can be resolved. */
export function resolvedAll(view: LedgerView, recipients: Iterable<Recipient>): Uint8Array[] {
  const addresses: Uint8Array[] = [];
  for (const recipient of recipients) {
    const address = resolved(view, recipient);
    if (address !== undefined) addresses.push(address);
  }
  return addresses;
}

/** The same for one recipient, which most transactions have. */
export function resolvedOne(view: LedgerView, recipient: Recipient): readonly Uint8Array[] {
  const address = resolved(view, recipient);
  return address === undefined ? [] : [address];
}
