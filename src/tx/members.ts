/** Looks into transactions that have members (transactions.md#atomic-transactions). */
import { equal } from '../base/bytes.ts';
import type { Tx } from './transaction.ts';

const NONE: readonly Tx[] = [];

/** In the order in which they are applied; nothing for most transactions. */
export const membersOf = (tx: Tx): readonly Tx[] => tx.def.members?.(tx) ?? NONE;

/** All of them, each followed by its members. */
export function* withMembers(txs: Iterable<Tx>): Generator<Tx> {
  for (const tx of txs) {
    yield tx;
    yield* membersOf(tx);
  }
}

/** The transaction whose id begins with these bytes: this one, or a member of it. */
export function memberUnder(tx: Tx, idStart: Uint8Array): Tx | undefined {
  const starts = ({ id }: Tx): boolean => equal(id.subarray(0, idStart.length), idStart);
  return starts(tx) ? tx : membersOf(tx).find(starts);
}
