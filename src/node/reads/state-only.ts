/**
 * Contracts and policies as far as the state tells of them. Running contracts and exchanging data
 * are services of their own; without them the rest of these answers is empty.
 */
import type { Contracts, ContractView, Policies, PolicyView } from '../../api/services-network.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import { findTransaction } from '../../chain/stored-blocks.ts';
import {
  END_OF_TABLE,
  fixed,
  prefix,
  prefixEnd,
  START_OF_TABLE,
  u8Key,
} from '../../ledger/keys.ts';
import {
  contractData,
  contracts,
  executed,
  OWNER,
  policies,
  policyHashes,
  policyMembers,
  RECIPIENT,
} from '../../ledger/tables.ts';
import type { Entry } from '../../tx/entries.ts';
import { listMax, page } from './page.ts';

const idKey = fixed(32);

export function contractReads({ view }: Blockchain): Contracts {
  function* entriesOf(id: Uint8Array): Generator<Entry> {
    for (const [[, key], value] of view.range(contractData, id, prefixEnd(id), listMax)) {
      yield { key, ...value };
    }
  }
  return {
    *list(): Generator<ContractView> {
      for (const [contractId, row] of view.range(
        contracts,
        START_OF_TABLE,
        END_OF_TABLE,
        listMax,
      )) {
        yield { contractId, ...row };
      }
    },
    get(contractId) {
      const row = view.get(contracts, contractId);
      return row && { contractId, ...row };
    },
    entries: (id, query) => page(entriesOf(id), query),
    entry(id, key) {
      const value = view.get(contractData, [id, key]);
      return value && { key, ...value };
    },
    executedFor(txId) {
      const id = view.get(executed, txId);
      return id && findTransaction(view, id);
    },
    // Outcomes are known to nodes that run contracts.
    statuses: () => [],
  };
}

export function policyReads({ view }: Blockchain): Policies {
  function members(policyId: Uint8Array, kind: number): Uint8Array[] {
    const from = prefix([idKey, u8Key], policyId, kind);
    return [...view.range(policyMembers, from, prefixEnd(from), listMax)]
      .sort(([, a], [, b]) => a - b)
      .map(([[, , address]]) => address);
  }
  function get(policyId: Uint8Array): PolicyView | undefined {
    const row = view.get(policies, policyId);
    if (row === undefined) return undefined;
    const recipients = members(policyId, RECIPIENT);
    return { policyId, ...row, recipients, owners: members(policyId, OWNER) };
  }
  return {
    *list() {
      for (const [policyId] of view.range(policies, START_OF_TABLE, END_OF_TABLE, listMax)) {
        const policy = get(policyId);
        if (policy !== undefined) yield policy;
      }
    },
    get,
    hashes: (policyId) =>
      [...view.range(policyHashes, policyId, prefixEnd(policyId), listMax)]
        .sort(([, a], [, b]) => a.order - b.order)
        .map(([[, hash]]) => hash),
    // Private data is stored by the exchange, which this release does not have.
    storage: false,
  };
}
