/** Which events a client wants. */
import type { Tx } from '../tx/transaction.ts';
import { executedContract } from '../tx/types/105-executed-contract.ts';
import type { EventKind } from './event-text.ts';
import type { LoadedBlock } from './loaded-block.ts';

export interface EventFilter {
  readonly kinds: ReadonlySet<EventKind>;
  /** Of transactions; what a contract call has brought about has its own type and that of the call. */
  readonly types?: ReadonlySet<number> | undefined;
  /** Whose lists of transactions contain it; as Latin-1 of the bytes, like the next two. */
  readonly addresses?: readonly string[] | undefined;
  readonly assets?: readonly string[] | undefined;
  readonly contracts?: readonly string[] | undefined;
}

/** The transactions of a block that fit, by their indexes in order. */
export function transactionsFor(block: LoadedBlock, filter: EventFilter): readonly number[] {
  const { types, addresses, assets, contracts } = filter;
  let found: readonly number[] | undefined;
  for (const [lists, wanted] of [
    [block.byAddress, addresses],
    [block.byAsset, assets],
    [block.byContract, contracts],
  ] as const) {
    if (wanted !== undefined) found = common(found, union(lists, wanted));
  }
  found ??= block.txs.keys().toArray();
  return types === undefined ? found : found.filter((index) => hasType(block.txs[index]!, types));
}

/** The results of contracts that fit, by the indexes of their transactions. */
export const resultsFor = (block: LoadedBlock, filter: EventFilter): readonly number[] =>
  transactionsFor(block, { ...filter, types: undefined, assets: undefined }).filter(
    (index) => executedIn(block.txs[index]!).length > 0,
  );

/** The results of contracts that a transaction carries: its own, or those of its members. */
export const executedIn = (tx: Tx): readonly Tx[] =>
  [tx, ...(tx.def.members?.(tx) ?? [])].filter(({ type }) => type === executedContract.type);

const hasType = (tx: Tx, types: ReadonlySet<number>): boolean => {
  const inner = tx.def.inner?.(tx);
  const members = tx.def.members?.(tx) ?? [];
  return (
    types.has(tx.type) ||
    (inner !== undefined && types.has(inner.type)) ||
    members.some((member) => hasType(member, types))
  );
};

function union(
  lists: ReadonlyMap<string, readonly number[]>,
  wanted: readonly string[],
): readonly number[] {
  if (wanted.length === 1) return lists.get(wanted[0]!) ?? [];
  const all = new Set(wanted.flatMap((key) => lists.get(key) ?? []));
  return [...all].sort((a, b) => a - b);
}

function common(
  found: readonly number[] | undefined,
  others: readonly number[],
): readonly number[] {
  if (found === undefined) return others;
  const known = new Set(found);
  return others.filter((index) => known.has(index));
}
