/** JSON-only shapes that several resources share, and their schemas (transactions.md#json). */

import { base58 } from '../base/base58.ts';
import { equal } from '../base/bytes.ts';
import { bytesUnder, type StoredTx } from '../chain/store/stored-blocks.ts';
import { leaseOf } from '../ledger/leases.ts';
import { print } from '../rest-framework/answer.ts';
import { Int32, Int64, list } from '../rest-framework/body.ts';
import { Type } from '../rest-framework/type.ts';
import { txToJson } from '../tx/json/encode.ts';
import { type KnownId, printTx } from '../tx/json/print.ts';
import { memberUnder } from '../tx/members.ts';
import { decodeStoredTx } from '../tx/tx-bytes.ts';
import { lease } from '../tx/types/008-lease.ts';
import { leaseCancel } from '../tx/types/009-lease-cancel.ts';
import { isTransactionId, transactionById } from './by-id.ts';
import { limits } from './limits.ts';
import type { Services } from './services.ts';

/** The JSON of a transaction; the transaction types give its schema. */
export const Transaction = Type.Unsafe<Record<string, unknown>>({
  $ref: '#/components/schemas/Transaction',
});

export const AddressList = Type.Object({ addresses: list(Type.String(), limits.addresses) });

export const Balance = Type.Object({
  address: Type.String(),
  confirmations: Int32,
  balance: Int64,
});

/** A transaction together with the height of its block. */
export type ConfirmedTx = Pick<StoredTx, 'tx' | 'height'>;

/** A transaction of the chain; `height` comes last, as in the reference. */
export function confirmedJson(
  { tx, height }: ConfirmedTx,
  { scheme }: Pick<Services, 'scheme'>,
): Record<string, unknown> {
  const json = txToJson(tx, scheme);
  json['height'] = height;
  return json;
}

/** The same, with the `status` of a lease and the `lease` of a cancellation. */
export function extendedJson(
  confirmed: ConfirmedTx,
  services: Pick<Services, 'scheme' | 'view'>,
): Record<string, unknown> {
  const { view } = services;
  const json = confirmedJson(confirmed, services);
  const { tx } = confirmed;
  if (tx.type === lease.type) {
    json['status'] = leaseOf(view, tx.id)?.active === true ? 'active' : 'canceled';
  } else if (tx.type === leaseCancel.type) {
    const id = base58.decode(String(json['leaseId']));
    const leased = transactionById(view, id);
    json['lease'] = leased === undefined ? null : confirmedJson(leased, services);
  }
  return json;
}

/**
 * The text of `extendedJson` for the transaction with this id, and its height; undefined where the chain has none.
 * Bytes have one text in Base58, so the client's text of the id is that of the answer. Clients ask for transactions often, so most are printed without decoding them.
 */
export function extendedText(
  asked: KnownId,
  services: Pick<Services, 'scheme' | 'view'>,
): { readonly text: string; readonly height: number } | undefined {
  const { view, scheme } = services;
  const id = asked.bytes;
  const found = isTransactionId(id) ? bytesUnder(view, id) : undefined;
  if (found === undefined) return undefined;
  const { bytes, height } = found;
  const printed = printTx(bytes, scheme, asked);
  if (printed === undefined || printed.type === lease.type || printed.type === leaseCancel.type) {
    const tx = memberUnder(decodeStoredTx(bytes, scheme), id);
    return tx && { text: print(extendedJson({ tx, height }, services)), height };
  }
  return equal(printed.id, id)
    ? { text: `${printed.open},"height":${height}}`, height }
    : undefined;
}
