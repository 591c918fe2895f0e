/**
 * The order of contract transactions that a reorganisation has put in doubt: that of their chain, and
 * not that of their times. Those inside atomic transactions run in a part of their own, so that one of
 * them, or of the others, waits for a later block where it stands behind one of the other part that
 * concerns the same contract. An update would otherwise come before calls of the version before it.
 * Within their part senders take turns, so that each waits there for those before it as well. Which
 * contracts an atomic transaction ends is not known before it is decoded: one waits for all.
 */
import type { PoolEntry } from '../../mempool/entries/entry.ts';
import type { Pool } from '../../mempool/pool.ts';
import {
  concernsContract,
  contractKeyOf,
  endsAmongOthers,
  isExecutable,
  isExecutableGroup,
  needsEngine,
  type PlaceOf,
} from './contract-queue.ts';

/** What the pool has in doubt. A restart may bring back more while a block is made. */
export type Doubted = Pick<Pool, 'inDoubt' | 'isInDoubt'>;

export interface DoubtOrder {
  /** Undefined where nothing is in doubt. */
  readonly placeOf: PlaceOf | undefined;
  /**
   * True while an entry of the other part comes first and may still get into the block in work. True also
   * for an entry that came into doubt after the block was begun: its place is not known before the next block.
   */
  waits(entry: PoolEntry): boolean;
  /** An atomic transaction that comes before this one, and may still get into the block in work. */
  before(entry: PoolEntry): PoolEntry | undefined;
  /** The ends of contracts that wait for such an entry; to be asked after the contracts of a block. */
  held(): ReadonlySet<PoolEntry>;
}

/** Those of one contract that may come first. */
interface Line {
  readonly singles: Row;
  readonly groups: Row;
}

interface Known {
  readonly placeOf: PlaceOf;
  readonly isOver: (entry: PoolEntry) => boolean;
}

/** In the order of the pool. */
class Row {
  readonly #entries: PoolEntry[] = [];
  readonly #known: Known;
  /** All before this index are over. */
  #at = 0;

  constructor(known: Known) {
    this.#known = known;
  }

  add(entry: PoolEntry): void {
    this.#entries.push(entry);
  }

  /** The first that may still come, where that is before this place. */
  firstBefore(place: number): PoolEntry | undefined {
    const { placeOf, isOver } = this.#known;
    const entries = this.#entries;
    while (this.#at < entries.length && isOver(entries[this.#at]!)) this.#at++;
    const first = entries[this.#at];
    return first !== undefined && placeOf(first) < place ? first : undefined;
  }

  /** The one just before it rather than the first: else all would be asked again behind each. */
  lastBefore(place: number): PoolEntry | undefined {
    const first = this.firstBefore(place);
    if (first === undefined) return undefined;
    const { placeOf, isOver } = this.#known;
    let [low, high] = [this.#at, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (placeOf(this.#entries[middle]!) < place) low = middle + 1;
      else high = middle;
    }
    const last = this.#entries[low - 1]!;
    return isOver(last) ? first : last;
  }
}

const newLine = (known: Known): Line => ({ singles: new Row(known), groups: new Row(known) });

/**
 * The places do not change while a block is made. `isOver`: true for what is in the block in work, or
 * has had its chance there.
 */
export function createDoubtOrder(
  pool: Doubted,
  publicKeySize: number,
  isOver: (entry: PoolEntry) => boolean,
): DoubtOrder {
  const places = new Map<PoolEntry, number>();
  const placeOf = (entry: PoolEntry): number => places.get(entry) ?? Number.POSITIVE_INFINITY;
  const known = { placeOf, isOver };
  const lines = new Map<string, Line>();
  const lineOfAll = newLine(known);
  const lineOf = (contract: string): Line => {
    const line = lines.get(contract) ?? newLine(known);
    lines.set(contract, line);
    return line;
  };
  for (const entry of pool.inDoubt()) {
    places.set(entry, places.size);
    if (!needsEngine(entry)) continue;
    const row = isExecutable(entry) ? 'singles' : 'groups';
    lineOfAll[row].add(entry);
    for (const contract of contractsOf(entry)) lineOf(contract)[row].add(entry);
  }

  function contractsOf(entry: PoolEntry): Iterable<string> {
    return entry.memberContracts === undefined
      ? [contractKeyOf(entry, publicKeySize)]
      : contractsIn(entry);
  }

  /** Those whose order with this one counts. */
  function* linesOf(entry: PoolEntry): Generator<Line> {
    if (endsAmongOthers(entry)) yield lineOfAll;
    else for (const contract of contractsOf(entry)) yield lines.get(contract) ?? newLine(known);
  }

  return {
    held: () => endsBehindOthers(pool.inDoubt(), publicKeySize, isOver),
    placeOf: places.size === 0 ? undefined : placeOf,
    waits(entry) {
      const place = places.get(entry);
      if (place === undefined) return pool.isInDoubt(entry);
      const row = isExecutableGroup(entry) ? 'singles' : 'groups';
      for (const line of linesOf(entry)) {
        if (line[row].firstBefore(place) !== undefined) return true;
      }
      return false;
    },
    before(entry) {
      const place = places.get(entry);
      if (place === undefined) return undefined;
      for (const { groups } of linesOf(entry)) {
        const one = groups.lastBefore(place);
        if (one !== undefined) return one;
      }
      return undefined;
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
