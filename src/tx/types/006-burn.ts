/**
 * Destroys an amount of an asset (transactions.md#signature-style, transactions.md#proof-style).
 *
 *   v1  type 1 | senderPublicKey 32 | assetId 32 | amount 8 | fee 8 | timestamp 8
 *   v2  type 1 | version 1 | chainId 1 | fields of v1
 *   v3  badge at the end
 */
import { creditAsset } from '../../ledger/assets.ts';
import { assets } from '../../ledger/tables.ts';
import { atomicBadge } from '../fields/extensions.ts';
import {
  assetId,
  chainId,
  fee,
  notNegative,
  senderPublicKey,
  timestamp,
} from '../fields/shared.ts';
import { existingAsset, ownAsset } from '../rules/asset-rules.ts';
import { feature } from '../rules/features.ts';
import { transaction } from '../transaction.ts';

const first = ['senderPublicKey', 'assetId', 'amount', 'fee', 'timestamp'];
const second = ['chainId', ...first];

export const burn = transaction({
  type: 6,
  name: 'BurnTransaction',
  key: 'burn',
  doc: 'Destroys an amount of an asset.',
  fields: {
    chainId,
    senderPublicKey,
    assetId,
    amount: notNegative('assets'),
    fee,
    timestamp,
    atomicBadge,
  },
  layouts: [
    { version: 1, frame: 'signedLast', fields: first },
    { version: 2, frame: 'proven', fields: second, feature: feature.smartAccounts },
    { version: 3, frame: 'proven', fields: [...second, 'atomicBadge'], feature: feature.atomic },
  ],
  fee: 5_000_000n,
  /** `quantity` is another name of the amount. */
  normalize: (json) =>
    json['amount'] === undefined && json['quantity'] !== undefined
      ? { ...json, amount: json['quantity'] }
      : json,
  record: ({ fields }) => ({ quantity: fields.amount, assetId: fields.assetId }),
  /** Burning more than the sender owns leaves a negative balance, which a later check refuses. */
  apply({ fields, sender }, ledger, block) {
    const { assetId: id, amount } = fields;
    const asset = block.features.has(feature.burnAnyTokens)
      ? existingAsset(ledger, id)
      : ownAsset(ledger, id, sender);
    ledger.set(assets, id, { ...asset, quantity: asset.quantity - amount });
    creditAsset(ledger, sender, id, -amount);
  },
});
