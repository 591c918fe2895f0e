/**
 * The transactions of committed blocks, with the lists by which filters find them. Each block is read
 * once for all clients that want it at about the same time; and not at all where it has just been
 * committed and the one before it was wanted, since its transactions are in memory then.
 */
import { latin1 } from '../base/bytes.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { HeaderRow } from '../block/header-row.ts';
import { byAddress, byContract } from '../chain/store/block-index.ts';
import { headerRowAt, transactionBytesInSlices } from '../chain/store/stored-blocks.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import type { Tx } from '../tx/transaction.ts';
import { decodeStoredTx } from '../tx/tx-bytes.ts';
import { issue } from '../tx/types/003-issue.ts';
import type { Span } from './byte-ring.ts';
import { isInChain, type Place } from './place.ts';

export interface LoadedBlock extends Pick<Place, 'height' | 'id'> {
  readonly row: HeaderRow;
  readonly txs: readonly Tx[];
  /** Indexes of transactions, in order. */
  readonly byAddress: ReadonlyMap<string, readonly number[]>;
  readonly byAsset: ReadonlyMap<string, readonly number[]>;
  readonly byContract: ReadonlyMap<string, readonly number[]>;
  /** JSON that was printed for a client, by step: others want the same. */
  readonly printed: Map<number, Span>;
}

export interface BlockLoader {
  /** A block has been committed. */
  committed(block: CommittedBlock): void;
  /** Undefined where the chain has left the block meanwhile. `id`: that of the block now, where it is known. */
  load(height: number, id?: Uint8Array): Promise<LoadedBlock | undefined>;
}

export interface CommittedBlock extends Pick<LoadedBlock, 'height' | 'row' | 'txs'> {}

/** Blocks in memory: those that are being read, and the latest. */
const AT_ONCE = 2;
const KEPT = 4;

export function createBlockLoader(
  view: LedgerView,
  clock: Pick<Clock, 'monotonic' | 'turn'>,
  /** Counts the removals of blocks. */
  removals: () => number,
): BlockLoader {
  const places = new Semaphore(AT_ONCE);
  /** By id; the oldest is the first. */
  const blocks = new Map<string, Kept>();

  function keep(id: Uint8Array, read: Kept['read']): Kept {
    const kept = { block: undefined, read };
    blocks.set(latin1(id), kept);
    if (blocks.size > KEPT) blocks.delete(blocks.keys().next().value!);
    return kept;
  }

  async function read(height: number, id: Uint8Array): Promise<LoadedBlock | undefined> {
    const slice = new TimeSlice(clock);
    const before = removals();
    const row = headerRowAt(view, height);
    if (row === undefined || !isInChain(view, { height, id })) return undefined;
    const parts =
      row.transactionCount === 0 ? [] : await transactionBytesInSlices(view, height, slice);
    const txs: Tx[] = [];
    for (const bytes of parts) {
      txs.push(decodeStoredTx(Uint8Array.from(bytes), view.scheme));
      if (slice.isOver()) await slice.yield();
    }
    if (removals() !== before) return undefined;
    return listed({ height, row, txs }, id);
  }

  const listed = ({ height, row, txs }: CommittedBlock, id: Uint8Array): LoadedBlock => ({
    height,
    id,
    row,
    txs,
    byAddress: listsOf(byAddress(txs, view), ({ address }) => address),
    byContract: listsOf(byContract(txs), ({ contract }) => contract),
    byAsset: assetLists(txs),
    printed: new Map(),
  });

  return {
    committed(block) {
      const { reference, signature } = block.row.header;
      if (blocks.get(latin1(reference))?.block === undefined) return;
      const id = signature.slice();
      keep(id, async () => listed(block, id));
    },
    async load(height, at) {
      const id = at ?? headerRowAt(view, height)?.header.signature.slice();
      if (id === undefined) return undefined;
      const key = latin1(id);
      const kept = blocks.get(key) ?? keep(id, () => places.run(() => read(height, id)));
      if (kept.block !== undefined) return kept.block;
      const block = kept.read();
      kept.block = block;
      // One that the chain has left may come back.
      const forget = () => blocks.get(key) === kept && blocks.delete(key);
      block.then((found) => found ?? forget(), forget);
      return block;
    },
  };
}

interface Kept {
  /** Undefined where nobody has wanted it yet. */
  block: Promise<LoadedBlock | undefined> | undefined;
  readonly read: () => Promise<LoadedBlock | undefined>;
}

/** A contract has one list for its calls and one for its changes. */
function listsOf<T extends { readonly indexes: readonly number[] }>(
  lists: Iterable<T>,
  key: (list: T) => Uint8Array,
): Map<string, readonly number[]> {
  const found = new Map<string, readonly number[]>();
  for (const list of lists) {
    const name = latin1(key(list));
    const before = found.get(name);
    const all = before === undefined ? list.indexes : [...before, ...list.indexes];
    found.set(name, before === undefined ? all : all.toSorted((a, b) => a - b));
  }
  return found;
}

/** The assets that it makes, moves or changes. */
function assetsOf(tx: Tx): readonly Uint8Array[] {
  if (tx.type === issue.type) return [tx.id];
  const members = tx.def.members?.(tx);
  if (members !== undefined) return members.flatMap(assetsOf);
  if (tx.def.assets !== undefined) return tx.def.assets(tx);
  const asset: unknown = tx.fields['assetId'];
  return asset instanceof Uint8Array ? [asset] : [];
}

function assetLists(txs: readonly Tx[]): Map<string, number[]> {
  const lists = new Map<string, number[]>();
  for (const [index, tx] of txs.entries()) {
    for (const asset of assetsOf(tx)) {
      const key = latin1(asset);
      const list = lists.get(key);
      if (list === undefined) lists.set(key, [index]);
      else if (list.at(-1) !== index) list.push(index);
    }
  }
  return lists;
}
