/** Rules that several types share about the asset they change (state.md#rules-of-each-type). */
import { equal } from '../../base/bytes.ts';
import { refused } from '../../base/errors.ts';
import { type Asset, assetOf } from '../../ledger/assets.ts';
import type { LedgerView } from '../../ledger/ledger.ts';

/** Throws ApiError where the asset was never issued. */
export function existingAsset(view: LedgerView, id: Uint8Array): Asset {
  const asset = assetOf(view, id);
  if (asset === undefined) throw refused('Referenced assetId not found');
  return asset;
}

/** Throws ApiError unless the asset exists and `sender` issued it. */
export function ownAsset(view: LedgerView, id: Uint8Array, sender: Uint8Array): Asset {
  const asset = existingAsset(view, id);
  if (!equal(asset.issuer, sender)) throw refused('Asset was issued by other address');
  return asset;
}
