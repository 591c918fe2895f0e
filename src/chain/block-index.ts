/**
 * Rows that follow from a block alone: its header, its transactions, and their positions by id, by
 * address and by contract. They are written with the block and removed with it, and need no undo records. So a
 * transaction costs its own bytes plus three short keys on disk.
 */

import { latin1 } from '../base/bytes.ts';
import type { StoreWrite } from '../base/ports.ts';
import { encodeHeaderRow, type HeaderRow } from '../block/header-row.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { Writer } from '../codec/codec.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import type { Table } from '../ledger/table.ts';
import {
  blocksByGenerator,
  CALL,
  CHANGE,
  headers,
  heights,
  transactionIds,
  transactions,
  transactionsByAddress,
  transactionsByContract,
} from '../ledger/tables.ts';
import type { Tx } from '../tx/transaction.ts';
import { callContract } from '../tx/types/104-call-contract.ts';

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

/** The rows to write for a block; `state` resolves aliases as of the end of that block. */
export function* indexWrites(
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
  for (let index = 0; index < txs.length; index++) {
    const tx = txs[index]!;
    // As a key and as a value, a position has the same bytes.
    const position = transactions.key.encode([height, index]);
    yield { table: transactions.id, key: position, value: tx.bytes };
    yield { table: transactionIds.id, key: idPrefix(tx.id), value: position };
  }
  for (const { address, indexes } of byAddress(txs, state)) {
    const list = encode((out) => transactionsByAddress.value.write(out, indexes));
    yield write(transactionsByAddress, [address, height], list);
  }
  for (const { contract, kind, indexes } of byContract(txs)) {
    const list = encode((out) => transactionsByContract.value.write(out, indexes));
    yield write(transactionsByContract, [contract, kind, height], list);
  }
}

/** Removes the rows that `indexWrites` wrote; `state` is the state with the block still applied. */
export function* indexRemovals(
  block: IndexedBlock,
  state: LedgerView,
  scheme: ChainScheme,
): Generator<StoreWrite> {
  for (const { table, key } of indexWrites(block, state, scheme)) {
    yield { table, key, value: undefined };
  }
}

interface Listed {
  readonly address: Uint8Array;
  readonly indexes: number[];
}

/** The transactions that each address lists, each once. */
function byAddress(txs: readonly Tx[], state: LedgerView): Iterable<Listed> {
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

interface ContractList {
  readonly contract: Uint8Array;
  readonly kind: number;
  readonly indexes: number[];
}

/** The transactions of each contract, its calls apart from its changes. */
function byContract(txs: readonly Tx[]): Iterable<ContractList> {
  const lists = new Map<string, ContractList>();
  for (let index = 0; index < txs.length; index++) {
    const tx = txs[index]!;
    const contract = tx.def.contract?.(tx);
    if (contract === undefined) continue;
    const kind = (tx.def.inner?.(tx) ?? tx).type === callContract.type ? CALL : CHANGE;
    const key = `${kind}${latin1(contract)}`;
    const list = lists.get(key);
    if (list === undefined) lists.set(key, { contract, kind, indexes: [index] });
    else list.indexes.push(index);
  }
  return lists.values();
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
