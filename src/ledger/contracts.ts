/** Container contracts and their state (contracts.md). Keys of a contract are never deleted. */
import type { DataValue } from './data-value.ts';
import { END_OF_TABLE, prefixEnd, START_OF_TABLE } from './key-codecs.ts';
import type { Ledger, LedgerView } from './ledger.ts';
import { contractData, contracts, executed } from './tables.ts';

export interface Contract {
  /** Public key. */
  readonly creator: Uint8Array;
  readonly image: string;
  readonly imageHash: string;
  /** 1 at first; every update adds one. */
  readonly version: number;
  readonly active: boolean;
}

export const contractOf = (view: LedgerView, id: Uint8Array): Contract | undefined =>
  view.get(contracts, id);

export const allContracts = (
  view: LedgerView,
  limit: number,
): Iterable<readonly [id: Uint8Array, Contract]> =>
  view.range(contracts, START_OF_TABLE, END_OF_TABLE, limit);

export function putContract(ledger: Ledger, id: Uint8Array, contract: Contract): void {
  ledger.set(contracts, id, contract);
}

export const contractEntry = (
  view: LedgerView,
  id: Uint8Array,
  key: string,
): DataValue | undefined => view.get(contractData, [id, key]);

/** Entries in code-point order of their keys. */
export function* contractEntries(
  view: LedgerView,
  id: Uint8Array,
  limit: number,
): Generator<readonly [key: string, value: DataValue]> {
  for (const [[, key], value] of view.range(contractData, id, prefixEnd(id), limit)) {
    yield [key, value];
  }
}

export function putContractEntry(
  ledger: Ledger,
  id: Uint8Array,
  key: string,
  value: DataValue,
): void {
  ledger.set(contractData, [id, key], value);
}

/** The id of the 105 that contains the results of a 103, 104 or 107. */
export const executedBy = (view: LedgerView, id: Uint8Array): Uint8Array | undefined =>
  view.get(executed, id);

export function recordExecuted(ledger: Ledger, id: Uint8Array, by: Uint8Array): void {
  ledger.set(executed, id, by);
}
