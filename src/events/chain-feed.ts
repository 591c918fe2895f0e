/**
 * The source of all events: the committed blocks of the chain, and the confidential data that come
 * to this node. A reader has a place and asks for what follows it; so history and new blocks are the
 * same to it, nothing is stored a second time, and nothing is kept for readers that are slow.
 *
 * Invariant: the events that a reader gets are those of one branch, until it is told of a rollback;
 * then those of the new branch from there on.
 */
import { equal, latin1 } from '../base/bytes.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { HeaderRow } from '../block/header-row.ts';
import type { ChainListener } from '../chain/chain-head.ts';
import { headerRowAt } from '../chain/store/stored-blocks.ts';
import type { Tip } from '../chain/tip.ts';
import { BoundedCache } from '../concurrency/bounded-cache.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import type { Tx } from '../tx/transaction.ts';
import { type EventFilter, executedIn, resultsFor, transactionsFor } from './event-filter.ts';
import { type BlockLoader, createBlockLoader, type LoadedBlock } from './loaded-block.ts';
import {
  BLOCK_STEP,
  endOf,
  indexOf,
  isInChain,
  type Place,
  placeIn,
  resultOf,
  stepOf,
} from './place.ts';

/** What happened in a transaction of the block. */
export interface TxEvent {
  readonly kind: 'transaction' | 'contractResult';
  readonly place: Place;
  readonly tx: Tx;
  readonly block: LoadedBlock;
}

export type ChainEvent =
  | TxEvent
  | { readonly kind: 'block'; readonly place: Place; readonly row: HeaderRow }
  | { readonly kind: 'policyData'; readonly place: Place; readonly item: ArrivedItem }
  /** The block of the place is the last that stays. */
  | { readonly kind: 'rollback'; readonly place: Place };

/** What follows a place. */
export interface Following {
  /** Made as they are asked for. */
  readonly events: Iterable<ChainEvent>;
  /** Behind all of them. */
  readonly place: Place;
}

/** Confidential data in the order in which they came to this node. */
export interface Arrivals {
  /** The number of the last one; 0: there was none. */
  last(): number;
  /** Those of the numbers above this one, that are still there. */
  after(number: number, limit: number): readonly ArrivedItem[];
  listen(action: () => void): () => void;
}

export interface ArrivedItem {
  readonly number: number;
  readonly policyId: Uint8Array;
  readonly hash: Uint8Array;
}

export interface ChainFeedDeps {
  readonly chain: {
    readonly view: LedgerView;
    tip(): Tip;
    listen(listener: ChainListener): () => void;
  };
  /** Undefined where the node takes no part in policies. */
  readonly arrivals?: Arrivals | undefined;
  readonly clock: Pick<Clock, 'monotonic' | 'turn'>;
}

/** Blocks whose parents are remembered, also when they have been removed. */
const PARENTS_MAX = 4096;
const ARRIVALS_AT_ONCE = 100;
/** Blocks whose headers stay decoded: readers with different filters ask for the latest ones. */
const KNOWN_MAX = 16;

interface KnownBlock {
  readonly row: HeaderRow;
  /** Behind its last event, before the first arrival. */
  readonly end: Place;
}

export class ChainFeed {
  readonly view: LedgerView;
  readonly blocks: BlockLoader;
  private readonly deps: ChainFeedDeps;
  private readonly parents = new BoundedCache<string, Uint8Array>(PARENTS_MAX);
  /** Of the chain, by height. */
  private readonly known = new BoundedCache<number, KnownBlock>(KNOWN_MAX);
  private readonly listeners = new Set<() => void>();
  private readonly ends: readonly (() => void)[];
  private removed = 0;

  constructor(deps: ChainFeedDeps) {
    const { chain, arrivals, clock } = deps;
    this.deps = deps;
    this.view = chain.view;
    this.blocks = createBlockLoader(chain.view, clock, () => this.removed);
    const tell = (): void => {
      for (const action of this.listeners) action();
    };
    const endChain = chain.listen({
      block: ({ tip, block }) => {
        this.parents.set(latin1(tip.id), tip.header.reference.slice());
        this.blocks.committed(block);
        tell();
      },
      rolledBack: () => {
        this.removed++;
        this.known.clear();
        tell();
      },
    });
    this.ends = [endChain, arrivals?.listen(tell) ?? (() => {})];
  }

  /** Behind everything that has happened. */
  end(): Place {
    return this.endAt(this.height, this.lastArrival);
  }

  /** Before the block at this height; undefined where the chain is shorter. */
  before(height: number): Place | undefined {
    return endOf(this.view, height - 1, 0);
  }

  /** True where nothing follows at present. */
  isEnd(place: Place, { kinds }: EventFilter): boolean {
    const isWhole = place.step === BLOCK_STEP && place.height === this.height;
    const hasItems = kinds.has('policyData') && this.lastArrival > place.arrival;
    return isWhole && !hasItems && this.has(place);
  }

  /** Undefined where the chain knows nothing of this place any more. */
  async next(place: Place, filter: EventFilter): Promise<Following | undefined> {
    const last = this.stays(place);
    if (last === 'unknown') return undefined;
    if (last !== undefined) return { events: [{ kind: 'rollback', place: last }], place: last };
    const came = filter.kinds.has('policyData') ? this.arrived(place) : undefined;
    if (came !== undefined) return came;
    return place.step < BLOCK_STEP ? this.restOf(place, filter) : this.nextBlock(place, filter);
  }

  /** Called when something has happened; the returned function ends it. */
  listen(action: () => void): () => void {
    this.listeners.add(action);
    return () => this.listeners.delete(action);
  }

  /** Counts the removals of blocks. */
  removals(): number {
    return this.removed;
  }

  stop(): void {
    for (const end of this.ends) end();
  }

  private get height(): number {
    return this.deps.chain.tip().height;
  }

  private get lastArrival(): number {
    return this.deps.arrivals?.last() ?? 0;
  }

  /** Undefined above the last block. */
  private blockAt(height: number): KnownBlock | undefined {
    const known = this.known.get(height);
    if (known !== undefined) return known;
    const row = headerRowAt(this.view, height);
    if (row === undefined) return undefined;
    const found = { row, end: endOf(this.view, height, 0)! };
    this.known.set(height, found);
    return found;
  }

  /** The chain must have a block at this height. */
  private endAt(height: number, arrival: number): Place {
    const { end } = this.blockAt(height)!;
    return arrival === 0 ? end : { ...end, arrival };
  }

  private has({ height, id }: Place): boolean {
    if (height === 0) return true;
    const block = this.blockAt(height);
    return block !== undefined && equal(block.end.id, id);
  }

  /** Undefined where the place is in the chain. */
  private stays(place: Place): Place | 'unknown' | undefined {
    const { view, parents } = this;
    if (this.has(place)) return undefined;
    let { height, id } = place;
    for (let depth = 0; depth < PARENTS_MAX && height > 1; depth++) {
      const parent = parents.get(latin1(id));
      if (parent === undefined) break;
      height--;
      id = parent;
      if (isInChain(view, { height, id })) return endOf(view, height, place.arrival)!;
    }
    return placeIn(view, place) ?? 'unknown';
  }

  private arrived(place: Place): Following | undefined {
    const { arrivals } = this.deps;
    const last = this.lastArrival;
    if (arrivals === undefined || last <= place.arrival) return undefined;
    const items = arrivals.after(place.arrival, ARRIVALS_AT_ONCE);
    const events = items.map((item): ChainEvent => {
      return { kind: 'policyData', place: { ...place, arrival: item.number }, item };
    });
    const arrival = items.length < ARRIVALS_AT_ONCE ? last : items.at(-1)!.number;
    return { events, place: { ...place, arrival } };
  }

  /** Passes over blocks of which no event can be wanted. */
  private async nextBlock(from: Place, filter: EventFilter): Promise<Following> {
    const { blocks } = this;
    const slice = new TimeSlice(this.deps.clock);
    const before = this.removed;
    const { kinds } = filter;
    const needsTxs = kinds.has('transaction') || kinds.has('contractResult');
    let { height } = from;
    while (height < this.height && !slice.isOver()) {
      height++;
      // What nobody wants takes no place among the blocks that all readers share.
      const row = this.known.get(height)?.row ?? headerRowAt(this.view, height)!;
      if (!kinds.has('block') && (row.transactionCount === 0 || !needsTxs)) continue;
      const end = this.endAt(height, from.arrival);
      const isWanted = needsTxs && row.transactionCount > 0;
      const block = isWanted ? await blocks.load(height, end.id) : undefined;
      // Another reader may have asked for it before it left the chain and came back.
      if (this.removed !== before || (isWanted && block === undefined)) return nothing(from);
      return { events: eventsIn({ end, row, block }, -1, filter), place: end };
    }
    return nothing(height === from.height ? from : this.endAt(height, from.arrival));
  }

  /** The rest of a block of which the reader has a part. */
  private async restOf(place: Place, filter: EventFilter): Promise<Following> {
    const before = this.removed;
    const block = await this.blocks.load(place.height);
    if (block === undefined || this.removed !== before) return nothing(place);
    const end = { ...place, step: BLOCK_STEP };
    return { events: eventsIn({ end, row: block.row, block }, place.step, filter), place: end };
  }
}

const nothing = (place: Place): Following => ({ events: [], place });

interface EndedBlock {
  readonly end: Place;
  readonly row: HeaderRow;
  /** Undefined where none of its transactions is wanted. */
  readonly block: LoadedBlock | undefined;
}

/** The events of a block above a step. */
function* eventsIn(
  { end, row, block }: EndedBlock,
  above: number,
  filter: EventFilter,
): Generator<ChainEvent> {
  const { kinds } = filter;
  if (block !== undefined) {
    const txs = kinds.has('transaction') ? transactionsFor(block, filter) : [];
    const results = kinds.has('contractResult') ? resultsFor(block, filter) : [];
    for (const step of merged(block, txs, results)) {
      if (step <= above) continue;
      const place = { ...end, step };
      const tx = block.txs[indexOf(step)]!;
      const result = resultOf(step);
      if (result === 0) yield { kind: 'transaction', place, tx, block };
      else yield { kind: 'contractResult', place, tx: executedIn(tx)[result - 1]!, block };
    }
  }
  if (kinds.has('block')) yield { kind: 'block', place: end, row };
}

function merged(
  { txs }: LoadedBlock,
  wanted: readonly number[],
  results: readonly number[],
): number[] {
  const steps = wanted.map((index) => stepOf(index));
  if (results.length === 0) return steps;
  const ofResults = results.flatMap((index) =>
    executedIn(txs[index]!).map((_, i) => stepOf(index, i + 1)),
  );
  return [...steps, ...ofResults].sort((a, b) => a - b);
}
