/**
 * The order of contract transactions that a reorganisation has put in doubt: that of their chain, and
 * not that of their times. Those inside atomic transactions run in a part of their own, so that one of
 * them, or of the others, waits for a later block where it stands behind one of the other part that
 * concerns the same contract. An update would otherwise come before calls of the version before it.
 */
import type { PoolEntry } from '../../mempool/entries/entry.ts';
import { contractKeyOf, isExecutable, isExecutableGroup, type PlaceOf } from './contract-queue.ts';

export interface DoubtOrder {
  /** Undefined where nothing is in doubt. */
  readonly placeOf: PlaceOf | undefined;
  /** True while one of the other part, which may still get into the block in work, comes first. */
  waits(entry: PoolEntry): boolean;
}

/** Those of one contract that may come first, in their order. */
interface Line {
  readonly singles: PoolEntry[];
  readonly groups: PoolEntry[];
}

/**
 * The order does not change while a block is made. `isOver`: true for what is in the block in work, or
 * has had its chance there.
 */
export function createDoubtOrder(
  inDoubt: Iterable<PoolEntry>,
  publicKeySize: number,
  isOver: (entry: PoolEntry) => boolean,
): DoubtOrder {
  const places = new Map<PoolEntry, number>();
  const lines = new Map<string, Line>();
  const lineOf = (contract: string): Line => {
    const line = lines.get(contract) ?? { singles: [], groups: [] };
    lines.set(contract, line);
    return line;
  };
  for (const entry of inDoubt) {
    places.set(entry, places.size);
    if (isExecutable(entry)) lineOf(contractKeyOf(entry, publicKeySize)).singles.push(entry);
    else for (const contract of contractsIn(entry)) lineOf(contract).groups.push(entry);
  }

  function isBehind(place: number, others: PoolEntry[] | undefined): boolean {
    while (others?.[0] !== undefined && isOver(others[0])) others.shift();
    const first = others?.[0];
    return first !== undefined && places.get(first)! < place;
  }

  return {
    placeOf:
      places.size === 0 ? undefined : (entry) => places.get(entry) ?? Number.POSITIVE_INFINITY,
    waits(entry) {
      const place = places.get(entry);
      if (place === undefined) return false;
      if (!isExecutableGroup(entry)) {
        return isBehind(place, lines.get(contractKeyOf(entry, publicKeySize))?.groups);
      }
      return [...contractsIn(entry)].some((contract) =>
        isBehind(place, lines.get(contract)?.singles),
      );
    },
  };
}

const contractsIn = ({ memberContracts = [] }: PoolEntry): ReadonlySet<string> =>
  new Set(memberContracts.map(({ key }) => key));
