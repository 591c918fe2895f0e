/** Contracts for the API, as the state of the chain knows them: running them is a service of its own. */
import type { ContractReads, ContractView } from '../../api/reads.ts';
import { findTransaction } from '../../chain/stored-blocks.ts';
import {
  allContracts,
  contractEntries,
  contractEntry,
  contractOf,
  executedBy,
} from '../../ledger/contracts.ts';
import type { Entry } from '../../tx/fields/entries.ts';
import type { ChainState } from './chain-state.ts';
import { isId } from './ids.ts';
import { listMax, page } from './page.ts';

export function contractReads({ view }: ChainState): ContractReads {
  function* entriesOf(id: Uint8Array): Generator<Entry> {
    if (!isId(id)) return;
    for (const [key, value] of contractEntries(view, id, listMax)) yield { key, ...value };
  }
  return {
    *list(): Generator<ContractView> {
      for (const [contractId, row] of allContracts(view, listMax)) yield { contractId, ...row };
    },
    get(contractId) {
      const row = isId(contractId) ? contractOf(view, contractId) : undefined;
      return row && { contractId, ...row };
    },
    entries: (id, query) => page(entriesOf(id), query),
    entry(id, key) {
      const value = isId(id) ? contractEntry(view, id, key) : undefined;
      return value && { key, ...value };
    },
    executedFor(txId) {
      const id = isId(txId) ? executedBy(view, txId) : undefined;
      return id && findTransaction(view, id);
    },
    // Outcomes are known to nodes that run contracts.
    statuses: () => [],
  };
}
