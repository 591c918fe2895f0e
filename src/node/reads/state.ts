/** All that the API reads from the state of the chain: the committed head, or a frozen one. */
import type { Snapshot, StateReads } from '../../api/reads.ts';
import { apiError } from '../../base/errors.ts';
import type { Store, StoreView } from '../../base/ports.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import { viewOf } from '../../ledger/head.ts';
import { accountReads, leaseReads } from './accounts.ts';
import { assetReads } from './assets.ts';
import { chainReads } from './chain.ts';
import type { ChainState } from './chain-state.ts';
import { contractReads } from './contracts.ts';
import { policyReads } from './policies.ts';
import { permissionReads } from './rules.ts';

export const stateReads = (state: ChainState): StateReads => ({
  chain: chainReads(state),
  accounts: accountReads(state),
  leases: leaseReads(state),
  assets: assetReads(state),
  permissions: permissionReads(state),
  contracts: contractReads(state),
  policies: policyReads(state),
});

/** The head as it is now; reading more than `rowsMax` rows of it throws ApiError AnswerTooBig. */
export function snapshotOf(
  { view, tip }: Blockchain,
  store: Pick<Store, 'snapshot'>,
  rowsMax: number,
): Snapshot {
  const frozen = store.snapshot();
  const now = tip();
  const reads = stateReads({ view: viewOf(counted(frozen, rowsMax), view.scheme), tip: () => now });
  return { reads, release: frozen.release };
}

function counted(store: StoreView, rowsMax: number): StoreView {
  let left = rowsMax;
  function count(): void {
    if (left-- > 0) return;
    throw apiError('AnswerTooBig', `more than ${rowsMax} rows of the state would be read`);
  }
  return {
    get(table, key) {
      count();
      return store.get(table, key);
    },
    *range(table, from, to, limit, reverse) {
      for (const row of store.range(table, from, to, limit, reverse)) {
        count();
        yield row;
      }
    },
  };
}
