/**
 * The transactions of committed blocks, with the lists by which filters find them. Each block is read
 * once for all clients that want it at about the same time.
 */
import { latin1 } from '../base/bytes.ts';
import type { Clock } from '../base/ports.ts';
import type { HeaderRow } from '../block/header-row.ts';
import { byAddress, byContract } from '../chain/store/block-index.ts';
import { headerRowAt, transactionBytesInSlices } from '../chain/store/stored-blocks.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import type { Tx } from '../tx/transaction.ts';
import { decodeStoredTx } from '../tx/tx-bytes.ts';
import { issue } from '../tx/types/003-issue.ts';
import { isInChain, type Place } from './place.ts';

export interface LoadedBlock extends Pick<Place, 'height' | 'id'> {
  readonly row: HeaderRow;
  readonly txs: readonly Tx[];
  /** Indexes of transactions, in order. */
  readonly byAddress: ReadonlyMap<string, readonly number[]>;
  readonly byAsset: ReadonlyMap<string, readonly number[]>;
  readonly byContract: ReadonlyMap<string, readonly number[]>;
}

export interface BlockLoader {
  /** Undefined where the chain has left the block meanwhile. `id`: that of the block now, where it is known. */
  load(height: number, id?: Uint8Array): Promise<LoadedBlock | undefined>;
}

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
  /** By mark; the oldest is the first. */
  const blocks = new Map<string, Promise<LoadedBlock | undefined>>();

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
    return {
      height,
      id,
      row,
      txs,
      byAddress: listsOf(byAddress(txs, view), ({ address }) => address),
      byContract: listsOf(byContract(txs), ({ contract }) => contract),
      byAsset: assetLists(txs),
    };
  }

  return {
    async load(height, at) {
      const id = at ?? headerRowAt(view, height)?.header.signature.slice();
      if (id === undefined) return undefined;
      const key = latin1(id);
      const known = blocks.get(key);
      if (known !== undefined) return known;
      const block = places.run(() => read(height, id));
      blocks.set(key, block);
      if (blocks.size > KEPT) blocks.delete(blocks.keys().next().value!);
      // One that the chain has left may come back.
      block.then(
        (found) => found ?? blocks.delete(key),
        () => blocks.delete(key),
      );
      return block;
    },
  };
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
