/**
 * The version of the transaction that made a contract, which selects the interface of its
 * container.
 */
import { fromLatin1 } from '../../base/bytes.ts';
import { findTransaction } from '../../chain/store/stored-blocks.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import { executedBy } from '../../ledger/contracts.ts';
import type { LedgerView } from '../../ledger/ledger.ts';

export interface CreateVersions {
  /** Undefined where no stored block holds the contract's creation. */
  of(contract: string, view: LedgerView): number | undefined;
  /** A contract id is the hash of its creation, so the version is true for every chain. */
  add(contract: string, version: number): void;
}

const KNOWN_MAX = 10_000;

export function createCreateVersions(): CreateVersions {
  const versions = new BoundedCache<string, number>(KNOWN_MAX);
  return {
    of(contract, view) {
      const known = versions.get(contract);
      if (known !== undefined) return known;
      const by = executedBy(view, fromLatin1(contract));
      const result = by && findTransaction(view, by)?.tx;
      const version = result?.def.inner?.(result).version;
      if (version !== undefined) versions.set(contract, version);
      return version;
    },
    add: (contract, version) => versions.set(contract, version),
  };
}
