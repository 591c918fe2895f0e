/**
 * Moves amounts of one token to up to a hundred recipients (transactions.md#proof-style).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | assetId 1 or 33
 *       | count 2, (recipient 26 or alias | amount 8)* | timestamp 8 | fee 8 | attachment 2+n
 *   v2  feeAssetId at the end; v3 also badge
 *
 * Only version 1 has no zero byte before its full bytes.
 */
import { apiError, refused } from '../../base/errors.ts';
import { add } from '../../base/int.ts';
import { integer } from '../../base/json/json.ts';
import { check, i64 } from '../../codec/primitives.ts';
import { list16, struct } from '../../codec/struct.ts';
import { assetOf, creditAny } from '../../ledger/assets.ts';
import { caseObject } from '../../script/language/values.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { recipient } from '../fields/recipient.ts';
import {
  attachment,
  fee,
  feeAssetId,
  optionalAssetId,
  senderPublicKey,
  timestamp,
} from '../fields/shared.ts';
import { feature } from '../rules/features.ts';
import { resolve, resolvedAll } from '../rules/resolve-recipient.ts';
import { account, optional } from '../scripts/record-values.ts';
import { transaction } from '../transaction.ts';

export const TRANSFERS_MAX = 100;

const amount = check(
  i64,
  (value) =>
    value < 0n ? apiError('Invalid', 'One of the transfers has negative amount') : undefined,
  { minimum: 0 },
);

const transfers = list16(struct({ recipient, amount }), TRANSFERS_MAX, (count) =>
  apiError('Invalid', `Number of transfers ${count} is greater than ${TRANSFERS_MAX}`),
);

const first = ['senderPublicKey', 'assetId', 'transfers', 'timestamp', 'fee', 'attachment'];
const second = [...first, 'feeAssetId'];

/** The sum of all transfers; `check` refuses one beyond an i64. */
function totalOf(items: readonly { readonly amount: bigint }[]): bigint {
  let total = 0n;
  for (const item of items) total += item.amount;
  return total;
}

export const massTransfer = transaction({
  type: 11,
  name: 'MassTransferTransaction',
  key: 'mass-transfer',
  doc: 'Moves tokens to many recipients.',
  fields: {
    senderPublicKey,
    assetId: optionalAssetId,
    transfers,
    timestamp,
    fee,
    attachment,
    feeAssetId,
    atomicBadge,
  },
  layouts: [
    { version: 1, frame: 'provenFlat', fields: first },
    { version: 2, frame: 'proven', fields: second, feature: feature.sponsoredFees },
    { version: 3, frame: 'proven', fields: [...second, 'atomicBadge'], feature: feature.atomic },
  ],
  features: [feature.massTransfer],
  fee: 5_000_000n,
  additionalFee: {
    perUnit: 1_000_000n,
    unit: 'two transfers',
    units: ({ fields }) => Math.floor((fields.transfers.length + 1) / 2),
  },
  check: ({ fields }) => {
    add(totalOf(fields.transfers), fields.fee);
  },
  derived: ({ fields }) => ({
    transferCount: fields.transfers.length,
    totalAmount: integer(totalOf(fields.transfers)),
  }),
  derivedSchema: { transferCount: { type: 'integer' }, totalAmount: i64.schema },
  spends: ({ fields }) => ({ assetId: fields.assetId, amount: totalOf(fields.transfers) }),
  /** `feeAssetId` is declared for scripts and never set. */
  record: ({ fields }) => ({
    assetId: optional(fields.assetId),
    totalAmount: totalOf(fields.transfers),
    transfers: fields.transfers.map(({ recipient: to, amount: part }) =>
      caseObject('Transfer', { recipient: account(to), amount: part }),
    ),
    transferCount: BigInt(fields.transfers.length),
    attachment: fields.attachment,
  }),
  apply({ fields, sender }, ledger) {
    const { assetId, transfers: items } = fields;
    if (assetId !== undefined && assetOf(ledger, assetId) === undefined) {
      throw refused('Attempt to transfer a nonexistent asset');
    }
    creditAny(ledger, sender, assetId, -totalOf(items));
    for (const item of items) {
      creditAny(ledger, resolve(ledger, item.recipient), assetId, item.amount);
    }
  },
  involved: ({ fields }, ledger) =>
    resolvedAll(
      ledger,
      fields.transfers.map((item) => item.recipient),
    ),
});
