/** Assets for the API, from the committed head. */
import type { AssetReads } from '../../api/services.ts';
import { assert } from '../../base/assert.ts';
import { apiError } from '../../base/errors.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import { findTransaction } from '../../chain/stored-blocks.ts';
import { accountOf, available } from '../../ledger/accounts.ts';
import { assetBalance, assetOf, assetsOf, holdersOf } from '../../ledger/assets.ts';
import { listMax } from './page.ts';

export function assetReads(blockchain: Blockchain): AssetReads {
  const { view } = blockchain;
  return {
    details(assetId) {
      const asset = assetOf(view, assetId);
      if (asset === undefined) return undefined;
      const issue = findTransaction(view, assetId);
      assert(issue !== undefined, 'an asset comes from a confirmed transaction');
      return {
        ...asset,
        // Scripts cannot be set yet, so no asset has one.
        script: undefined,
        minSponsoredAssetFee: asset.sponsorFee,
        sponsorBalance: available(accountOf(view, asset.issuer)),
        issueTransaction: issue.tx,
      };
    },
    balance: (address, assetId) => assetBalance(view, address, assetId),
    balancesOf: (address) => assetsOf(view, address, listMax),
    distribution: (assetId) => holdersOf(view, assetId, listMax),
    distributionAt: () => {
      throw apiError('NotAvailable', 'The distribution of an asset at a past height');
    },
  };
}
