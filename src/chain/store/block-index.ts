/**
 * Rows that follow from a block alone: its header, its transactions, and their positions by id, by
 * address and by contract. They are written with the block and removed with it, and need no undo records. So a
 * transaction costs its own bytes plus three short keys on disk.
 */

import { latin1 } from '../../base/bytes.ts';
import type { StoreWrite } from '../../base/ports/store.ts';
import { type RowColumn, rowsOf } from '../../base/row-columns.ts';
import { encodeHeaderRow, type HeaderRow } from '../../block/header-row.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { Writer } from '../../codec/codec.ts';
import { inOneGo } from '../../concurrency/steps.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import type { Table } from '../../ledger/table.ts';
import {
  blocksByGenerator,
  CALL,
  CHANGE,
  headers,
  heights,
  positionKey,
  transactionIds,
  transactions,
  transactionsByAddress,
  transactionsByContract,
} from '../../ledger/tables.ts';
import { membersOf } from '../../tx/members.ts';
import type { Tx } from '../../tx/transaction.ts';
import { callContract } from '../../tx/types/104-call-contract.ts';

/** The number of bytes of a transaction id in the index. */
export const ID_PREFIX_BYTES = 16;
/** A copy: a view would move the small array of the id out of the heap, which costs far more. */
export const idPrefix = (id: Uint8Array): Uint8Array => id.slice(0, ID_PREFIX_BYTES);

const NOTHING = new Uint8Array(0);
const NO_ADDRESSES: readonly Uint8Array[] = [];

export interface IndexedBlock {
  readonly height: number;
  readonly row: HeaderRow;
  readonly txs: readonly Tx[];
}

/**
 * The rows to write for a block, besides its columns; `state` resolves aliases as of the end of that
 * block.
 */
export function* indexRows(
  block: IndexedBlock,
  state: LedgerView,
  scheme: ChainScheme,
): Generator<StoreWrite> {
  const { height, row, txs } = block;
  const encode = encoder(scheme);
  yield write(headers, height, encodeHeaderRow(row, scheme));
  yield write(
    heights,
    row.header.signature,
    encode((out) => out.u32(height)),
  );
  yield write(blocksByGenerator, [scheme.addressOf(row.header.generator), height], NOTHING);
  for (const { address, indexes } of byAddress(txs, state)) {
    const list = encode((out) => transactionsByAddress.value.write(out, indexes));
    yield write(transactionsByAddress, [address, height], list);
  }
  for (const { contract, kind, indexes } of byContract(txs)) {
    const list = encode((out) => transactionsByContract.value.write(out, indexes));
    yield write(transactionsByContract, [contract, kind, height], list);
  }
}

/** The transactions of consecutive blocks and their places by id, in steps. */
export function* indexColumns(
  blocks: readonly Pick<IndexedBlock, 'height' | 'txs'>[],
): Generator<undefined, RowColumn[]> {
  const count = blocks.reduce((sum, { txs }) => sum + txs.length, 0);
  const positions = new Uint8Array(count * POSITION_BYTES);
  const ids: Uint8Array[] = [];
  const values: Uint8Array[] = [];
  const inside: Inside[] = [];
  for (const { height, txs } of blocks) {
    for (let index = 0; index < txs.length; index++) {
      const tx = txs[index]!;
      positionKey.put(positions, ids.length * POSITION_BYTES, [height, index]);
      ids.push(tx.id);
      values.push(tx.bytes);
      for (const { id } of membersOf(tx)) inside.push({ id, position: [height, index] });
    }
    yield undefined;
  }
  const table = transactions.id;
  const columns: RowColumn[] = [{ table, keys: positions, keyBytes: POSITION_BYTES, values }];
  const places = withInside(positions, inside);
  for (const { id } of inside) ids.push(id);
  for (let start = 0; start < ids.length; start += SORTED_MAX) {
    const part = ids.slice(start, start + SORTED_MAX);
    columns.push(idColumn(part, places.subarray(start * POSITION_BYTES)));
    yield undefined;
  }
  return columns;
}

/** A member, which stands where the transaction around it stands. */
interface Inside {
  readonly id: Uint8Array;
  readonly position: [height: number, index: number];
}

/** The places of all transactions, then those of the members. */
function withInside(positions: Uint8Array, inside: readonly Inside[]): Uint8Array {
  if (inside.length === 0) return positions;
  const all = new Uint8Array(positions.length + inside.length * POSITION_BYTES);
  all.set(positions);
  for (let i = 0; i < inside.length; i++) {
    positionKey.put(all, positions.length + i * POSITION_BYTES, inside[i]!.position);
  }
  return all;
}

const POSITION_BYTES = 6;
/** Sorting more would take longer than a turn. */
const SORTED_MAX = 2 ** 15;

/**
 * In the order of the ids' first four bytes, as numbers, which take a fifth of the time of comparing
 * keys. The order of the few that begin with the same bytes is of no importance.
 */
function idColumn(ids: readonly Uint8Array[], positions: Uint8Array): RowColumn {
  const { length } = ids;
  const order = new Float64Array(length);
  // The order is random, and the ids lie apart in memory, so they are first put together.
  const unsorted = new Uint8Array(length * ID_PREFIX_BYTES);
  for (let i = 0; i < length; i++) {
    const id = ids[i]!;
    order[i] = beginning(id) * SORTED_MAX + i;
    for (let at = 0; at < ID_PREFIX_BYTES; at++) unsorted[i * ID_PREFIX_BYTES + at] = id[at]!;
  }
  order.sort();
  const keys = new Uint8Array(length * ID_PREFIX_BYTES);
  const values = new Uint8Array(length * POSITION_BYTES);
  for (let to = 0; to < length; to++) {
    const number = order[to]!;
    const i = number - Math.floor(number / SORTED_MAX) * SORTED_MAX;
    copyPart(unsorted, i, keys, to, ID_PREFIX_BYTES);
    copyPart(positions, i, values, to, POSITION_BYTES);
  }
  return { table: transactionIds.id, keys, keyBytes: ID_PREFIX_BYTES, values };
}

/** Copies a few bytes, for which a loop is faster than a view. */
function copyPart(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  bytes: number,
): void {
  for (let at = 0; at < bytes; at++) target[to * bytes + at] = source[from * bytes + at]!;
}

const beginning = (id: Uint8Array): number =>
  id[0]! * 0x100_0000 + ((id[1]! << 16) | (id[2]! << 8) | id[3]!);

/** Removes all rows of a block; `state` is the state with the block still applied. */
export function* indexRemovals(
  block: IndexedBlock,
  state: LedgerView,
  scheme: ChainScheme,
): Generator<StoreWrite> {
  for (const { table, key } of indexRows(block, state, scheme)) {
    yield { table, key, value: undefined };
  }
  for (const column of inOneGo(indexColumns([block]))) {
    for (const { table, key } of rowsOf(column)) yield { table, key, value: undefined };
  }
}

export interface Listed {
  readonly address: Uint8Array;
  readonly indexes: number[];
}

/** The transactions that each address lists, each once. */
export function byAddress(txs: readonly Tx[], state: LedgerView): Iterable<Listed> {
  const lists = new Map<string, Listed>();
  const add = (address: Uint8Array, index: number): void => {
    const key = latin1(address);
    const list = lists.get(key);
    if (list === undefined) lists.set(key, { address, indexes: [index] });
    else if (list.indexes.at(-1) !== index) list.indexes.push(index);
  };
  for (let index = 0; index < txs.length; index++) {
    const tx = txs[index]!;
    if (tx.sender.length > 0) add(tx.sender, index);
    for (const address of tx.def.involved?.(tx, state) ?? NO_ADDRESSES) add(address, index);
  }
  return lists.values();
}

export interface ContractList {
  readonly contract: Uint8Array;
  readonly kind: number;
  readonly indexes: number[];
}

/** The transactions of each contract, its calls apart from its changes. */
export function byContract(txs: readonly Tx[]): Iterable<ContractList> {
  const lists = new Map<string, ContractList>();
  for (let index = 0; index < txs.length; index++) {
    const tx = txs[index]!;
    add(tx, index);
    for (const member of membersOf(tx)) add(member, index);
  }
  return lists.values();

  function add(tx: Tx, index: number): void {
    const contract = tx.def.contract?.(tx);
    if (contract === undefined) return;
    const kind = (tx.def.inner?.(tx) ?? tx).type === callContract.type ? CALL : CHANGE;
    const key = `${kind}${latin1(contract)}`;
    const list = lists.get(key);
    if (list === undefined) lists.set(key, { contract, kind, indexes: [index] });
    else if (list.indexes.at(-1) !== index) list.indexes.push(index);
  }
}

function write<K, V>(table: Table<K, V>, key: K, value: Uint8Array | undefined): StoreWrite {
  return { table: table.id, key: table.key.encode(key), value };
}

let scratch: Writer | undefined;

/** Encodes values one after the other with one reused writer. */
function encoder(scheme: ChainScheme): (fill: (out: Writer) => void) => Uint8Array {
  if (scratch === undefined || scratch.scheme !== scheme) scratch = new Writer(scheme);
  const out = scratch;
  return (fill) => {
    fill(out);
    return out.take();
  };
}
