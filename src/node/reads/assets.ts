/** Assets for the API, from the committed head. */
import type { AssetReads } from '../../api/reads.ts';
import { assert } from '../../base/assert.ts';
import { findTransaction } from '../../chain/stored-blocks.ts';
import { accountOf, available } from '../../ledger/accounts.ts';
import { assetBalance, assetOf, assetsOf, holdersOf } from '../../ledger/assets.ts';
import { everHolders, type Holder } from '../../ledger/balance-history.ts';
import type { ChainState } from './chain-state.ts';
import { isId } from './ids.ts';
import { listMax } from './page.ts';

/** Those who held nothing at the height are passed over, but no more of them in one answer. */
const VISITED_MAX = 10_000;

export function assetReads(state: ChainState): AssetReads {
  const { view } = state;
  return {
    details(assetId) {
      const asset = isId(assetId) ? assetOf(view, assetId) : undefined;
      if (asset === undefined) return undefined;
      const issue = findTransaction(view, assetId);
      assert(issue !== undefined, 'an asset comes from a confirmed transaction');
      return {
        ...asset,
        // Scripts cannot be set yet, so no asset has one.
        script: undefined,
        minSponsoredAssetFee: asset.sponsorFee,
        sponsorBalance: available(accountOf(view, asset.issuer)),
        issueTransaction: issue,
      };
    },
    balance: (address, assetId) => (isId(assetId) ? assetBalance(view, address, assetId) : 0n),
    balancesOf: (address) => assetsOf(view, address, listMax),
    distribution: (assetId) => (isId(assetId) ? holdersOf(view, assetId, listMax) : []),
    *distributionAt(assetId, height, limit, after) {
      const items: Holder[] = [];
      if (!isId(assetId)) return { items, hasNext: false, last: undefined };
      let last = after;
      let visited = 0;
      for (const holder of everHolders(view, assetId, height, after)) {
        if (items.length === limit || visited === VISITED_MAX) {
          return { items, hasNext: true, last };
        }
        visited++;
        yield undefined;
        [last] = holder;
        if (holder[1] > 0n) items.push(holder);
      }
      return { items, hasNext: false, last: items.at(-1)?.[0] };
    },
  };
}
