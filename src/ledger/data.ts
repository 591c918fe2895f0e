/**
 * Data entries of accounts (type 12): one entry by key, or all entries of an account in key order.
 */
import type { DataValue } from './data-value.ts';
import { prefixEnd } from './key-codecs.ts';
import type { Ledger, LedgerView } from './ledger.ts';
import { data } from './tables.ts';

export const dataEntry = (
  view: LedgerView,
  address: Uint8Array,
  key: string,
): DataValue | undefined => view.get(data, [address, key]);

/** Entries in code-point order of their keys. */
export function* dataEntries(
  view: LedgerView,
  address: Uint8Array,
  limit: number,
): Generator<readonly [key: string, value: DataValue]> {
  for (const [[, key], value] of view.range(data, address, prefixEnd(address), limit)) {
    yield [key, value];
  }
}

export function putData(ledger: Ledger, address: Uint8Array, key: string, value: DataValue): void {
  ledger.set(data, [address, key], value);
}
