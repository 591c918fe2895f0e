/** Balances, data, aliases and leases of accounts for the API, from the committed head. */
import type { AccountReads, LeaseReads } from '../../api/reads.ts';
import { findTransaction } from '../../chain/stored-blocks.ts';
import { type Account, accountOf, available, effective } from '../../ledger/accounts.ts';
import { aliasesOf, aliasOwner } from '../../ledger/aliases.ts';
import { generatingBalance, minimumInSteps } from '../../ledger/balance-history.ts';
import { dataEntries, dataEntry } from '../../ledger/data.ts';
import { activeLeasesOf, leaseOf } from '../../ledger/leases.ts';
import type { Entry } from '../../tx/fields/entries.ts';
import type { ChainState } from './chain-state.ts';
import { listMax, page } from './page.ts';

const regular = (account: Account): bigint => account.balance;

export function accountReads(state: ChainState): AccountReads {
  const { view } = state;
  const lowest = (address: Uint8Array, blocks: number, of: (account: Account) => bigint) =>
    minimumInSteps(view, address, state.tip().height, blocks, of);
  function* entriesOf(address: Uint8Array): Generator<Entry> {
    for (const [key, value] of dataEntries(view, address, listMax)) yield { key, ...value };
  }
  return {
    balance: (address) => accountOf(view, address).balance,
    balances(address) {
      const account = accountOf(view, address);
      return {
        regular: account.balance,
        available: available(account),
        effective: effective(account),
        generating: generatingBalance(view, address, state.tip().height),
      };
    },
    lowestBalance: (address, confirmations) => lowest(address, confirmations, regular),
    lowestEffective: (address, confirmations) => lowest(address, confirmations, effective),
    generatingAt: (address, height) => generatingBalance(view, address, height),
    data: (address, query) => page(entriesOf(address), query),
    dataEntry(address, key) {
      const value = dataEntry(view, address, key);
      return value && { key, ...value };
    },
    // Scripts cannot be set yet, so no account has one.
    script: () => undefined,
    aliasesOf: (address) => [...aliasesOf(view, address)],
    aliasOwner: (name) => aliasOwner(view, name),
  };
}

export function leaseReads(state: ChainState): LeaseReads {
  const { view } = state;
  return {
    *active(address) {
      for (const id of activeLeasesOf(view, address, listMax)) {
        const found = findTransaction(view, id);
        if (found !== undefined) yield found;
      }
    },
    isActive: (leaseId) => leaseOf(view, leaseId)?.active ?? false,
  };
}
