/** Blocks and transactions in the store, found by height, id and address. */
import { assert } from '../../base/assert.ts';
import { ID_BYTES } from '../../base/sizes.ts';
import { type Block, joinBlock, TRANSACTIONS_MAX } from '../../block/block.ts';
import { decodeHeaderRow, type HeaderRow } from '../../block/header-row.ts';
import type { TimeSlice } from '../../concurrency/time-slice.ts';
import { fixed, prefix, prefixEnd, u8Key, u16Key, u32Key } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import {
  type CALL,
  type CHANGE,
  headers,
  heights,
  transactionIds,
  transactions,
  transactionsByAddress,
  transactionsByContract,
} from '../../ledger/tables.ts';
import { memberUnder } from '../../tx/members.ts';
import type { Candidate } from '../../tx/scripts/script-environment.ts';
import type { Tx } from '../../tx/transaction.ts';
import { decodeStoredTx } from '../../tx/tx-bytes.ts';
import { idPrefix } from './block-index.ts';

/** The position of a transaction. */
export interface Position {
  readonly height: number;
  readonly index: number;
}

export interface StoredTx extends Position {
  readonly tx: Tx;
}

export function headerRowAt(view: LedgerView, height: number): HeaderRow | undefined {
  const row = view.get(headers, height);
  return row && decodeHeaderRow(row, view.scheme);
}

export const heightOf = (view: LedgerView, blockId: Uint8Array): number | undefined =>
  view.get(heights, blockId);

/** The header of the newest block; undefined in an empty store. */
export function tipHeader(view: LedgerView): (HeaderRow & { height: number }) | undefined {
  const [from, to] = [u32Key.encode(0), u32Key.encode(0xffff_ffff)];
  for (const [height, row] of view.range(headers, from, to, 1, true)) {
    return { height, ...decodeHeaderRow(row, view.scheme) };
  }
  return undefined;
}

/** Some of the transactions of a block. */
export interface Part {
  /** Transactions before the first one. */
  readonly offset: number;
  readonly limit: number;
}

const WHOLE: Part = { offset: 0, limit: TRANSACTIONS_MAX };
const INDEX_MAX = 0xffff;

/** Full bytes of the transactions of a block, in their order. */
export function* transactionBytesAt(
  view: LedgerView,
  height: number,
  { offset, limit }: Part = WHOLE,
): Generator<Uint8Array> {
  const all = prefix([u32Key], height);
  const from = prefix([u32Key, u16Key], height, Math.min(offset, INDEX_MAX));
  const count = Math.min(limit, TRANSACTIONS_MAX - offset);
  if (count <= 0) return;
  for (const [, bytes] of view.range(transactions, from, prefixEnd(all), count)) yield bytes;
}

export function transactionsAt(view: LedgerView, height: number): Tx[] {
  return Array.from(transactionBytesAt(view, height), (bytes) =>
    decodeStoredTx(bytes, view.scheme),
  );
}

/** The same in slices, since reading the scripts of a block can take seconds. */
export async function transactionsInSlices(
  view: LedgerView,
  height: number,
  slice: TimeSlice,
): Promise<Tx[]> {
  const txs: Tx[] = [];
  // Read at once: the head may move meanwhile.
  for (const bytes of [...transactionBytesAt(view, height)]) {
    txs.push(decodeStoredTx(bytes, view.scheme));
    if (slice.isOver()) await slice.yield();
  }
  return txs;
}

/** The whole block in the bytes that were signed. */
export function blockAt(view: LedgerView, height: number): Block | undefined {
  const row = headerRowAt(view, height);
  if (row === undefined) return undefined;
  return joinBlock(row.header, [...transactionBytesAt(view, height)], view.scheme);
}

/** The number of rows that are read in one piece. */
const ROWS_AT_ONCE = 200;

/**
 * The same in slices, since reading a full block takes tens of milliseconds. The head may move
 * meanwhile, so the caller checks whether the block is still the one at this height.
 */
export async function blockInSlices(
  view: LedgerView,
  height: number,
  slice: TimeSlice,
): Promise<Block | undefined> {
  const row = headerRowAt(view, height);
  if (row === undefined) return undefined;
  const parts = await transactionBytesInSlices(view, height, slice);
  return joinBlock(row.header, parts, view.scheme);
}

/** The full bytes of its transactions alone. */
export async function transactionBytesInSlices(
  view: LedgerView,
  height: number,
  slice: TimeSlice,
): Promise<readonly Uint8Array[]> {
  const end = prefixEnd(prefix([u32Key], height));
  const parts: Uint8Array[] = [];
  for (let more = true; more; ) {
    const from = transactions.key.encode([height, parts.length]);
    const before = parts.length;
    for (const [, bytes] of view.range(transactions, from, end, ROWS_AT_ONCE)) parts.push(bytes);
    more = parts.length === before + ROWS_AT_ONCE;
    if (slice.isOver()) await slice.yield();
  }
  return parts;
}

/** The full bytes of one transaction. */
export const transactionBytes = (
  view: LedgerView,
  { height, index }: Position,
): Uint8Array | undefined => view.get(transactions, [height, index]);

interface StoredBytes extends Position {
  readonly bytes: Uint8Array;
}

/**
 * The only transaction that may have this id, or a member with it. The index holds just the beginning
 * of ids, so the caller compares the id of what it gets.
 */
export function bytesUnder(view: LedgerView, id: Uint8Array): StoredBytes | undefined {
  const position = view.get(transactionIds, idPrefix(id));
  if (position === undefined) return undefined;
  const { height, index } = position;
  const bytes = view.get(transactions, [height, index]);
  return bytes && { bytes, height, index };
}

/** A confirmed transaction. */
export function findTransaction(view: LedgerView, id: Uint8Array): StoredTx | undefined {
  const found = bytesUnder(view, id);
  if (found === undefined) return undefined;
  const { bytes, height, index } = found;
  const tx = memberUnder(decodeStoredTx(bytes, view.scheme), id);
  return tx && { tx, height, index };
}

/** The same before it is read, whatever the rest of its id is. */
export function candidateUnder(view: LedgerView, id: Uint8Array): Candidate | undefined {
  const found = bytesUnder(view, id);
  if (found === undefined) return undefined;
  const { bytes, height } = found;
  return {
    height,
    size: bytes.length,
    tx() {
      const tx = decodeStoredTx(bytes, view.scheme);
      return memberUnder(tx, idPrefix(id)) ?? tx;
    },
  };
}

/** The height of the block that contains the transaction with this id. */
export const confirmedHeight = (view: LedgerView, id: Uint8Array): number | undefined =>
  view.get(transactionIds, idPrefix(id))?.height;

const NEWEST: Position = { height: 0xffff_ffff, index: 0 };

/** Newest first, at most `limit`, older than the position `below`. */
export function* transactionsOf(
  view: LedgerView,
  address: Uint8Array,
  limit: number,
  below: Position = NEWEST,
): Generator<StoredTx> {
  const start = transactionsByAddress.key.encode([address, below.height]);
  // Each row holds at least one transaction, but all transactions of the first row may be above
  // `below`.
  const rows = view.range(transactionsByAddress, start, prefixEnd(address), limit + 1);
  const lists = mapped(rows, ([[, height], indexes]) => ({ height, indexes }));
  yield* listed(view, lists, limit, below);
}

/** The same for the calls of a contract, or for its changes. */
export function* transactionsOfContract(
  view: LedgerView,
  contract: Uint8Array,
  kind: typeof CALL | typeof CHANGE,
  limit: number,
  below: Position = NEWEST,
): Generator<StoredTx> {
  const { key } = transactionsByContract;
  const start = key.encode([contract, kind, below.height]);
  const end = prefixEnd(prefix([fixed(ID_BYTES), u8Key], contract, kind));
  const rows = view.range(transactionsByContract, start, end, limit + 1);
  const lists = mapped(rows, ([[, , height], indexes]) => ({ height, indexes }));
  yield* listed(view, lists, limit, below);
}

interface IndexesAt {
  readonly height: number;
  readonly indexes: readonly number[];
}

function* mapped<T>(rows: Iterable<T>, change: (row: T) => IndexesAt): Generator<IndexesAt> {
  for (const row of rows) yield change(row);
}

function* listed(
  view: LedgerView,
  lists: Iterable<IndexesAt>,
  limit: number,
  below: Position,
): Generator<StoredTx> {
  let left = limit;
  for (const { height, indexes } of lists) {
    for (const index of indexes.toReversed()) {
      if (height === below.height && index >= below.index) continue;
      if (left-- <= 0) return;
      const bytes = view.get(transactions, [height, index]);
      assert(bytes !== undefined, `transaction ${index} of height ${height} is stored`);
      yield { tx: decodeStoredTx(bytes, view.scheme), height, index };
    }
  }
}
