/** Looks into transactions that have members (transactions.md#atomic-transactions). */
import { equal } from '../base/bytes.ts';
import type { Tx } from './transaction.ts';

const NONE: readonly Tx[] = [];

/** In the order in which they are applied; nothing for most transactions. */
export const membersOf = (tx: Tx): readonly Tx[] => tx.def.members?.(tx) ?? NONE;

/** What was sent: for the result of a contract, that which it carries. */
export const asSent = (tx: Tx): Tx => tx.def.inner?.(tx) ?? tx;

/** True for what only a miner with an engine can put into a block. */
export const runsContract = (tx: Tx): boolean =>
  tx.def.executable === true || membersOf(tx).some(({ def }) => def.executable === true);

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
