/**
 * Moves an amount of the native token or an asset to a recipient (transactions.md#signature-style,
 * transactions.md#proof-style).
 *
 *   v1  type 1 | senderPublicKey 32 | assetId 1 or 33 | feeAssetId 1 or 33 | timestamp 8 | amount 8
 *       | fee 8 | recipient 26 or alias | attachment 2+n
 *   v2  type 1 | version 1 | fields of v1
 *   v3  badge at the end
 */
import { apiError } from '../../base/errors.ts';
import { add } from '../../base/int.ts';
import { i64 } from '../../codec/primitives.ts';
import { base58 } from '../../codec/text.ts';
import { move } from '../../ledger/assets.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { recipient } from '../fields/recipient.ts';
import { attachment, fee, optionalAssetId, senderPublicKey, timestamp } from '../fields/shared.ts';
import { feature } from '../rules/features.ts';
import { resolve, resolvedOne } from '../rules/resolve-recipient.ts';
import { account, optional } from '../scripts/record-values.ts';
import { transaction } from '../transaction.ts';

const first = [
  'senderPublicKey',
  'assetId',
  'feeAssetId',
  'timestamp',
  'amount',
  'fee',
  'recipient',
  'attachment',
];

export const transfer = transaction({
  type: 4,
  name: 'TransferTransaction',
  key: 'transfer',
  doc: 'Moves tokens to an address or alias.',
  fields: {
    senderPublicKey,
    assetId: optionalAssetId,
    feeAssetId: optionalAssetId,
    timestamp,
    amount: i64,
    fee,
    recipient,
    attachment,
    atomicBadge,
  },
  layouts: [
    { version: 1, frame: 'signedFirst', fields: first },
    { version: 2, frame: 'proven', fields: first, feature: feature.smartAccounts },
    { version: 3, frame: 'proven', fields: [...first, 'atomicBadge'], feature: feature.atomic },
  ],
  fee: 1_000_000n,
  check({ fields }, { nativeToken }) {
    if (fields.amount <= 0n) {
      const of = fields.assetId === undefined ? nativeToken : base58.encode(fields.assetId);
      throw apiError('NegativeAmount', fields.amount, of);
    }
    add(fields.amount, fields.fee);
  },
  spends: ({ fields }) => fields,
  record: ({ fields }) => ({
    feeAssetId: optional(fields.feeAssetId),
    amount: fields.amount,
    assetId: optional(fields.assetId),
    recipient: account(fields.recipient),
    attachment: fields.attachment,
  }),
  /**
   * An asset that was never issued cannot be owned by the sender, so such a transfer was refused
   * before.
   */
  apply: ({ fields, sender }, ledger) =>
    move(ledger, sender, resolve(ledger, fields.recipient), fields.assetId, fields.amount),
  involved: ({ fields }, ledger) => resolvedOne(ledger, fields.recipient),
});
