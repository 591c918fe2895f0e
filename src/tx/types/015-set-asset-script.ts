/**
 * Replaces the script of an asset that was issued with one (transactions.md#proof-style).
 *
 *   v1  type 1 | version 1 | chainId 1 | senderPublicKey 32 | assetId 32 | script 3+n | fee 8
 *       | timestamp 8
 */
import { apiError, refused } from '../../base/errors.ts';
import { assets } from '../../ledger/tables.ts';
import { assetId, chainId, fee, script, senderPublicKey, timestamp } from '../fields/shared.ts';
import { ownAsset } from '../rules/asset-rules.ts';
import { feature } from '../rules/features.ts';
import { optional } from '../scripts/record-values.ts';
import { transaction } from '../transaction.ts';

export const setAssetScript = transaction({
  type: 15,
  name: 'SetAssetScriptTransaction',
  key: 'set-asset-script',
  doc: 'Replaces the script of an asset.',
  fields: { chainId, senderPublicKey, assetId, script, fee, timestamp },
  layouts: [
    {
      version: 1,
      frame: 'proven',
      fields: ['chainId', 'senderPublicKey', 'assetId', 'script', 'fee', 'timestamp'],
    },
  ],
  features: [feature.smartAssets],
  fee: 100_000_000n,
  roles: ['contract_developer'],
  newScript: ({ fields }) => fields.script,
  check({ fields }) {
    if (fields.script === undefined) throw apiError('Invalid', 'Cannot set empty script');
  },
  record: ({ fields }) => ({ script: optional(fields.script), assetId: fields.assetId }),
  apply({ fields, sender }, ledger) {
    const asset = ownAsset(ledger, fields.assetId, sender);
    if (asset.script === undefined) {
      throw refused('Cannot set script on an asset issued without a script');
    }
    ledger.set(assets, fields.assetId, { ...asset, script: fields.script });
  },
});
