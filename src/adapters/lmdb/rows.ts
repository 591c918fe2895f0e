/**
 * How rows travel to the writing thread: in buffers that are transferred and used again.
 *
 * A buffer: bytes in use (u32) ‖ rows. A row: table (u8) ‖ key length (u16) ‖ value length + 1, or 0
 * for a removal (u32) ‖ key ‖ value ‖ room for its checksum, which the writing thread computes.
 * Numbers are little-endian; no row is cut in two.
 */
import { assert } from '../../base/assert.ts';
import type { StoreWrite } from '../../base/ports/store.ts';
import { type RowColumn, valueBytes } from '../../base/row-columns.ts';
import { SUM_BYTES, seal } from './sums.ts';

export const BUFFER_BYTES = 1024 * 1024;

const START = 4;
const HEAD_BYTES = 7;
const TABLES_MAX = 0xff;
const KEY_BYTES_MAX = 0xffff;
const FIELDS = 'table and key fit their fields';

export class RowPacker {
  private readonly allocate: (bytes: number) => ArrayBuffer;
  private full: ArrayBuffer[] = [];
  private bytes = new Uint8Array(0);
  private at = 0;

  /** `allocate` returns buffers of at least that size, with any content. */
  constructor(allocate: (bytes: number) => ArrayBuffer) {
    this.allocate = allocate;
  }

  add({ table, key, value }: StoreWrite): void {
    assert(table <= TABLES_MAX && key.length <= KEY_BYTES_MAX, FIELDS);
    this.begin(table, key.length, value?.length);
    this.bytes.set(key, this.at);
    this.at += key.length;
    if (value === undefined) return;
    this.bytes.set(value, this.at);
    this.at += value.length + SUM_BYTES;
  }

  /** The rows of a column from number `from` to before `to`. */
  addRows(column: RowColumn, from: number, to: number): void {
    const { table, keys, keyBytes, values } = column;
    assert(table <= TABLES_MAX && keyBytes <= KEY_BYTES_MAX, FIELDS);
    const isFixed = values instanceof Uint8Array;
    const fixedLength = isFixed ? valueBytes(column, values) : 0;
    for (let i = from; i < to; i++) {
      const length = isFixed ? fixedLength : values[i]!.length;
      this.begin(table, keyBytes, length);
      this.copy(keys, i * keyBytes, (i + 1) * keyBytes);
      if (isFixed) {
        this.copy(values, i * length, (i + 1) * length);
      } else {
        this.bytes.set(values[i]!, this.at);
        this.at += length;
      }
      this.at += SUM_BYTES;
    }
  }

  /** Everything added so far; empties the packer. */
  take(): ArrayBuffer[] {
    this.finish();
    const taken = this.full;
    this.full = [];
    return taken;
  }

  private finish(): void {
    if (this.at === 0) return;
    new DataView(this.bytes.buffer).setUint32(0, this.at, true);
    this.full.push(this.bytes.buffer);
    this.bytes = new Uint8Array(0);
    this.at = 0;
  }

  /** Makes room for a row and writes its head; a removal has no length of a value. */
  private begin(table: number, keyLength: number, valueLength: number | undefined): void {
    const size = HEAD_BYTES + keyLength + (valueLength === undefined ? 0 : valueLength + SUM_BYTES);
    if (this.at + size > this.bytes.length) {
      this.finish();
      this.bytes = new Uint8Array(this.allocate(START + size));
      this.at = START;
    }
    const { bytes, at } = this;
    const length = valueLength === undefined ? 0 : valueLength + 1;
    bytes[at] = table;
    bytes[at + 1] = keyLength;
    bytes[at + 2] = keyLength >>> 8;
    bytes[at + 3] = length;
    bytes[at + 4] = length >>> 8;
    bytes[at + 5] = length >>> 16;
    bytes[at + 6] = length >>> 24;
    this.at = at + HEAD_BYTES;
  }

  /** Copies a few bytes, for which a loop is faster than `set` with a view. */
  private copy(source: Uint8Array, start: number, end: number): void {
    const { bytes } = this;
    let { at } = this;
    for (let i = start; i < end; i++) bytes[at++] = source[i]!;
    this.at = at;
  }
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
