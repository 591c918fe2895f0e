/**
 * The state of the chain for an answer that takes several turns: frozen, and read within a budget.
 */

import { apiError } from '../base/errors.ts';
import type { Store, StoreView } from '../base/ports/store.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { viewOf } from '../ledger/committed-view.ts';
import type { Snapshot } from '../rest/services.ts';

/** The current head; reading more than `rowsMax` of its rows throws ApiError AnswerTooBig. */
export function snapshotOf(
  blockchain: Pick<Blockchain, 'view' | 'tip'>,
  store: Pick<Store, 'snapshot'>,
  rowsMax: number,
): Snapshot {
  const frozen = store.snapshot();
  const { view } = blockchain;
  const tip = blockchain.tip();
  return {
    view: viewOf(counted(frozen, rowsMax), view.scheme),
    tip: () => tip,
    height: () => tip.height,
    release: frozen.release,
  };
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
