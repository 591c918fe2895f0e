/** One state of the chain, as far as the reads of the API look at it. */
import type { LedgerView } from '../../ledger/ledger.ts';

export interface ChainState {
  readonly view: LedgerView;
  tip(): { readonly height: number };
}
