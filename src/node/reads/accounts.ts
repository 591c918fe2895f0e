/** Balances, data, aliases and leases of accounts for the API, from the committed head. */
import type { Accounts, Leases } from '../../api/services.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import { findTransaction } from '../../chain/stored-blocks.ts';
import { type Account, accountOf, available, effective } from '../../ledger/accounts.ts';
import { aliasesOf, aliasOwner } from '../../ledger/aliases.ts';
import { generatingBalance, minimumOver } from '../../ledger/balance-history.ts';
import { dataEntries, dataEntry } from '../../ledger/data.ts';
import { activeLeasesOf, leaseOf } from '../../ledger/leases.ts';
import type { Entry } from '../../tx/entries.ts';
import { listMax, page } from './page.ts';

const regular = (account: Account): bigint => account.balance;

export function accountReads(blockchain: Blockchain): Accounts {
  const { view } = blockchain;
  const lowest = (address: Uint8Array, blocks: number, of: (account: Account) => bigint) =>
    minimumOver(view, address, blockchain.tip().height, blocks, of);
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
        generating: generatingBalance(view, address, blockchain.tip().height),
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

export function leaseReads(blockchain: Blockchain): Leases {
  const { view } = blockchain;
  return {
    active: (address) =>
      Array.from(activeLeasesOf(view, address, listMax), (id) => findTransaction(view, id)).filter(
        (found) => found !== undefined,
      ),
    isActive: (leaseId) => leaseOf(view, leaseId)?.active ?? false,
  };
}
