/**
 * The order of contract transactions that a reorganisation has put in doubt: that of their chain, and
 * not that of their times. Those inside atomic transactions run in a part of their own, so that one of
 * them, or of the others, waits for a later block where it stands behind one of the other part that
 * concerns the same contract. An update would otherwise come before calls of the version before it.
 */
import type { PoolEntry } from '../../mempool/entries/entry.ts';
import {
  concernsContract,
  contractKeyOf,
  endsAmongOthers,
  isExecutable,
  isExecutableGroup,
  needsEngine,
  type PlaceOf,
} from './contract-queue.ts';

export interface DoubtOrder {
  /** Undefined where nothing is in doubt. */
  readonly placeOf: PlaceOf | undefined;
  /** True while one of the other part, which may still get into the block in work, comes first. */
  waits(entry: PoolEntry): boolean;
  /** The ends of contracts before which such a one comes; to be asked behind the contracts of a block. */
  held(): ReadonlySet<PoolEntry>;
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
  inDoubt: readonly PoolEntry[],
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
    held: () => endsBehindOthers(inDoubt, publicKeySize, isOver),
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

/**
 * What a miner that executes nothing may take. The end of a contract waits for what is in doubt before it
 * and needs an engine; which contracts an atomic transaction ends is not known before it is decoded.
 * The order is asked for with the first entry.
 */
export function takenWithoutEngine(
  inDoubt: () => Iterable<PoolEntry>,
  publicKeySize: number,
): (entry: PoolEntry) => boolean {
  let held: ReadonlySet<PoolEntry> | undefined;
  return (entry) => {
    held ??= endsBehindOthers(inDoubt(), publicKeySize, () => false);
    return !needsEngine(entry) && !held.has(entry);
  };
}

/** The ends of contracts before which others may still run. */
function endsBehindOthers(
  inDoubt: Iterable<PoolEntry>,
  publicKeySize: number,
  isOver: (entry: PoolEntry) => boolean,
): ReadonlySet<PoolEntry> {
  const waiting = new Set<string>();
  const ends = new Set<PoolEntry>();
  for (const entry of inDoubt) {
    if (needsEngine(entry)) {
      if (isOver(entry)) continue;
      if (isExecutable(entry)) waiting.add(contractKeyOf(entry, publicKeySize));
      for (const contract of contractsIn(entry)) waiting.add(contract);
    } else if (endsAmongOthers(entry)) {
      if (waiting.size > 0) ends.add(entry);
    } else if (concernsContract(entry) && waiting.has(contractKeyOf(entry, publicKeySize))) {
      ends.add(entry);
    }
  }
  return ends;
}

const contractsIn = ({ memberContracts = [] }: PoolEntry): ReadonlySet<string> =>
  new Set(memberContracts.map(({ key }) => key));
