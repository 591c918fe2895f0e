/**
 * The undo record of one block: the previous value of every row that it changed.
 *
 * Bytes: for each row, in ascending order of key and then table: table u8, count of leading bytes
 * shared with the key before, count of the other bytes, those bytes, length of the previous value
 * plus one or 0 where there was none, the previous value. Counts are base-128, low part first. Keys
 * of one address begin with the same 26 bytes in many tables, so this order stores these bytes
 * once.
 */
import { assert } from '../../base/assert.ts';
import { type ChainScheme, CodecError, Reader, type Writer } from '../../codec/codec.ts';

export interface UndoEntry {
  readonly table: number;
  readonly key: Uint8Array;
  readonly previous: Uint8Array | undefined;
}

const NO_KEY = new Uint8Array(0);

/** Appends one entry; `lastKey` is the key of the entry before, absent for the first entry. */
export function writeUndoEntry(
  out: Writer,
  table: number,
  key: Uint8Array,
  previous: Uint8Array | undefined,
  lastKey: Uint8Array = NO_KEY,
): void {
  assert(table < 0x100, 'table numbers of undo records have one byte');
  let shared = 0;
  const most = Math.min(key.length, lastKey.length);
  while (shared < most && key[shared] === lastKey[shared]) shared++;
  out.u8(table);
  writeCount(out, shared);
  writeCount(out, key.length - shared);
  out.bytes(shared === 0 ? key : key.subarray(shared));
  if (previous === undefined) {
    out.u8(0);
  } else {
    writeCount(out, previous.length + 1);
    out.bytes(previous);
  }
}

export function* readUndo(record: Uint8Array, scheme: ChainScheme): Generator<UndoEntry> {
  const src = new Reader(record, scheme);
  let lastKey: Uint8Array = NO_KEY;
  while (src.remaining > 0) {
    const table = src.u8();
    const shared = readCount(src);
    if (shared > lastKey.length) throw new CodecError('undo', 'shared bytes beyond the last key');
    const rest = src.bytes(readCount(src));
    const key = new Uint8Array(shared + rest.length);
    key.set(lastKey.subarray(0, shared));
    key.set(rest, shared);
    lastKey = key;
    const length = readCount(src);
    yield { table, key, previous: length === 0 ? undefined : src.bytes(length - 1) };
  }
}

function writeCount(out: Writer, count: number): void {
  let rest = count;
  while (rest > 0x7f) {
    out.u8((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  out.u8(rest);
}

function readCount(src: Reader): number {
  let count = 0;
  for (let shift = 0; shift < 32; shift += 7) {
    const part = src.u8();
    count = (count | ((part & 0x7f) << shift)) >>> 0;
    if (part < 0x80) return count;
  }
  throw new CodecError('undo', 'a count of more than 32 bits');
}
