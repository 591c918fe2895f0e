/**
 * Contracts and policies as far as the state tells of them. Running contracts and exchanging data
 * are services of their own; without them the rest of these answers is empty.
 */
import type { Contracts, ContractView, Policies, PolicyView } from '../../api/services-network.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import { findTransaction } from '../../chain/stored-blocks.ts';
import {
  allContracts,
  contractEntries,
  contractEntry,
  contractOf,
  executedBy,
} from '../../ledger/contracts.ts';
import {
  allPolicies,
  hashesOf,
  membersOf,
  OWNER,
  type Policy,
  policyOf,
  RECIPIENT,
} from '../../ledger/policies.ts';
import type { Entry } from '../../tx/entries.ts';
import { isId } from './ids.ts';
import { listMax, page } from './page.ts';

export function contractReads({ view }: Blockchain): Contracts {
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

export function policyReads({ view }: Blockchain): Policies {
  const shown = (policyId: Uint8Array, { name, description }: Policy): PolicyView => ({
    policyId,
    name,
    description,
    recipients: membersOf(view, policyId, RECIPIENT),
    owners: membersOf(view, policyId, OWNER),
  });
  return {
    *list() {
      for (const [policyId, policy] of allPolicies(view, listMax)) yield shown(policyId, policy);
    },
    get(policyId) {
      const policy = isId(policyId) ? policyOf(view, policyId) : undefined;
      return policy && shown(policyId, policy);
    },
    hashes: (policyId) => (isId(policyId) ? hashesOf(view, policyId, listMax) : []),
  };
}
