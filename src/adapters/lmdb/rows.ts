/**
 * How rows travel to the writing thread: in buffers that are transferred and used again.
 *
 * A buffer: bytes in use (u32) ‖ rows. A row: table (u8) ‖ key length (u16) ‖ value length + 1, or 0
 * for a removal (u32) ‖ key ‖ value ‖ room for its checksum, which the writing thread computes.
 * Numbers are little-endian; no row is cut in two.
 */
import { assert } from '../../base/assert.ts';
import type { StoreWrite } from '../../base/ports.ts';
import { type RowColumn, valueBytes } from '../../base/row-columns.ts';
import { SUM_BYTES, seal } from './sums.ts';

export const BUFFER_BYTES = 1024 * 1024;

const START = 4;
const HEAD_BYTES = 7;
const TABLES_MAX = 0xff;
const KEY_BYTES_MAX = 0xffff;
const FIELDS = 'table and key fit their fields';

export interface RowPacker {
  add(write: StoreWrite): void;
  /** The rows of a column from number `from` to before `to`. */
  addRows(column: RowColumn, from: number, to: number): void;
  /** Everything added so far; empties the packer. */
  take(): ArrayBuffer[];
}

/** `allocate` returns buffers of at least that size, with any content. */
export function createRowPacker(allocate: (bytes: number) => ArrayBuffer): RowPacker {
  let full: ArrayBuffer[] = [];
  let bytes = new Uint8Array(0);
  let at = 0;

  function finish(): void {
    if (at === 0) return;
    new DataView(bytes.buffer).setUint32(0, at, true);
    full.push(bytes.buffer);
    bytes = new Uint8Array(0);
    at = 0;
  }

  /** Makes room for a row and writes its head; a removal has no length of a value. */
  function begin(table: number, keyLength: number, valueLength: number | undefined): void {
    const size = HEAD_BYTES + keyLength + (valueLength === undefined ? 0 : valueLength + SUM_BYTES);
    if (at + size > bytes.length) {
      finish();
      bytes = new Uint8Array(allocate(START + size));
      at = START;
    }
    const length = valueLength === undefined ? 0 : valueLength + 1;
    bytes[at] = table;
    bytes[at + 1] = keyLength;
    bytes[at + 2] = keyLength >>> 8;
    bytes[at + 3] = length;
    bytes[at + 4] = length >>> 8;
    bytes[at + 5] = length >>> 16;
    bytes[at + 6] = length >>> 24;
    at += HEAD_BYTES;
  }

  /** Copies a few bytes, for which a loop is faster than `set` with a view. */
  function copy(source: Uint8Array, start: number, end: number): void {
    for (let i = start; i < end; i++) bytes[at++] = source[i]!;
  }

  return {
    add({ table, key, value }) {
      assert(table <= TABLES_MAX && key.length <= KEY_BYTES_MAX, FIELDS);
      begin(table, key.length, value?.length);
      bytes.set(key, at);
      at += key.length;
      if (value === undefined) return;
      bytes.set(value, at);
      at += value.length + SUM_BYTES;
    },
    addRows(column, from, to) {
      const { table, keys, keyBytes, values } = column;
      assert(table <= TABLES_MAX && keyBytes <= KEY_BYTES_MAX, FIELDS);
      const isFixed = values instanceof Uint8Array;
      const fixedLength = isFixed ? valueBytes(column, values) : 0;
      for (let i = from; i < to; i++) {
        const length = isFixed ? fixedLength : values[i]!.length;
        begin(table, keyBytes, length);
        copy(keys, i * keyBytes, (i + 1) * keyBytes);
        if (isFixed) {
          copy(values, i * length, (i + 1) * length);
        } else {
          bytes.set(values[i]!, at);
          at += length;
        }
        at += SUM_BYTES;
      }
    },
    take() {
      finish();
      const taken = full;
      full = [];
      return taken;
    },
  };
}

/** The rows as views into the buffer; the values include their checksums. */
export function eachRow(
  buffer: ArrayBuffer,
  visit: (table: number, key: Uint8Array, value: Uint8Array | undefined) => void,
): void {
  const numbers = new DataView(buffer);
  const end = numbers.getUint32(0, true);
  for (let at = START; at < end; ) {
    const table = numbers.getUint8(at);
    const keyEnd = at + HEAD_BYTES + numbers.getUint16(at + 1, true);
    const key = new Uint8Array(buffer, at + HEAD_BYTES, keyEnd - at - HEAD_BYTES);
    const length = numbers.getUint32(at + 3, true);
    at = keyEnd;
    if (length === 0) {
      visit(table, key, undefined);
    } else {
      const sealed = new Uint8Array(buffer, at, length - 1 + SUM_BYTES);
      seal(table, key, sealed);
      visit(table, key, sealed);
      at += sealed.length;
    }
  }
}
