/** Alias names. An address has at most one, and a name belongs to its address for ever. */
import { prefixEnd } from './key-codecs.ts';
import type { Ledger, LedgerView } from './ledger.ts';
import { aliases, aliasesByAddress } from './tables.ts';

const NAMES_MAX = 1000;

export const aliasOwner = (view: LedgerView, name: string): Uint8Array | undefined =>
  view.get(aliases, name);

export function* aliasesOf(view: LedgerView, address: Uint8Array): Generator<string> {
  const rows = view.range(aliasesByAddress, address, prefixEnd(address), NAMES_MAX);
  for (const [[, name]] of rows) yield name;
}

export function hasAlias(view: LedgerView, address: Uint8Array): boolean {
  return !aliasesOf(view, address).next().done;
}

export function claimAlias(ledger: Ledger, name: string, address: Uint8Array): void {
  ledger.set(aliases, name, address);
  ledger.set(aliasesByAddress, [address, name], true);
}
