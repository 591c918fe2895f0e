/**
 * Adds to the quantity of an asset (transactions.md#signature-style, transactions.md#proof-style).
 *
 *   v1  type 1 | senderPublicKey 32 | assetId 32 | quantity 8 | reissuable 1 | fee 8 | timestamp 8
 *   v2  type 1 | version 1 | chainId 1 | fields of v1
 *   v3  badge at the end
 */
import { refused } from '../../base/errors.ts';
import { I64_MAX } from '../../base/int.ts';
import { bool } from '../../codec/primitives.ts';
import { creditAsset } from '../../ledger/assets.ts';
import { assets } from '../../ledger/tables.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { assetId, chainId, fee, positive, senderPublicKey, timestamp } from '../fields/shared.ts';
import { ownAsset } from '../rules/asset-rules.ts';
import { feature } from '../rules/features.ts';
import { transaction } from '../transaction.ts';

const first = ['senderPublicKey', 'assetId', 'quantity', 'reissuable', 'fee', 'timestamp'];
const second = ['chainId', ...first];

export const reissue = transaction({
  type: 5,
  name: 'ReissueTransaction',
  key: 'reissue',
  doc: 'Issues more of an asset.',
  fields: {
    chainId,
    senderPublicKey,
    assetId,
    quantity: positive('assets'),
    reissuable: bool,
    fee,
    timestamp,
    atomicBadge,
  },
  layouts: [
    { version: 1, frame: 'signedFirst', fields: first },
    { version: 2, frame: 'proven', fields: second, feature: feature.smartAccounts },
    { version: 3, frame: 'proven', fields: [...second, 'atomicBadge'], feature: feature.atomic },
  ],
  fee: 100_000_000n,
  roles: ['issuer'],
  record: ({ fields }) => ({
    quantity: fields.quantity,
    assetId: fields.assetId,
    reissuable: fields.reissuable,
  }),
  apply({ fields, sender }, ledger) {
    const { assetId: id, quantity } = fields;
    const asset = ownAsset(ledger, id, sender);
    if (!asset.reissuable) throw refused('Asset is not reissuable');
    if (asset.quantity + quantity > I64_MAX) throw refused('Asset total value overflow');
    ledger.set(assets, id, {
      ...asset,
      quantity: asset.quantity + quantity,
      reissuable: fields.reissuable,
    });
    creditAsset(ledger, sender, id, quantity);
  },
});
