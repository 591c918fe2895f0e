/** The rows that a block has changed, as bytes. */
import { equal } from '../../base/bytes.ts';
import type { Writer } from '../../codec/codec.ts';
import { inSlices, sortInSteps } from '../../concurrency/steps.ts';
import type { TimeSlice } from '../../concurrency/time-slice.ts';
import type { KeyedOverlay } from '../overlay.ts';
import type { Table } from '../table.ts';
import type { Row } from '../write-set.ts';
import type { PendingWrite } from './batch.ts';

class EncodedRow implements PendingWrite {
  readonly row: Row;
  readonly table: number;
  readonly kind: Table<unknown, unknown>['kind'];
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
  readonly previous: Uint8Array | undefined;

  constructor(row: Row, value: Uint8Array | undefined, previous: Uint8Array | undefined) {
    this.row = row;
    this.table = row.table.id;
    this.kind = row.table.kind;
    this.key = row.key;
    this.value = value;
    this.previous = previous;
  }
}

const byKeyThenTable = (a: Row, b: Row): number =>
  a.text < b.text ? -1 : a.text > b.text ? 1 : a.table.id - b.table.id;

/**
 * The rows that really change, in order of key and then table. One buffer holds all values: it is
 * allocated once, and the store asks for one address instead of one for every value.
 */
export async function encodeRows(
  overlay: KeyedOverlay,
  out: Writer,
  slice: TimeSlice,
): Promise<EncodedRow[]> {
  const changed: Row[] = [];
  for (const row of overlay.changes()) {
    if (row.before !== row.after || row.table.kind === 'local') changed.push(row);
    if (slice.isOver()) await slice.yield();
  }
  const rows = await inSlices(sortInSteps(changed, byKeyThenTable), slice);
  const ends = new Uint32Array(rows.length * 2);
  for (const [i, { table, before, after }] of rows.entries()) {
    if (after !== undefined) table.value.write(out, after);
    ends[2 * i] = out.position;
    if (before !== undefined) table.value.write(out, before);
    ends[2 * i + 1] = out.position;
    if (slice.isOver()) await slice.yield();
  }
  const { buffer } = out.take();
  const encoded: EncodedRow[] = [];
  let start = 0;
  for (const [i, row] of rows.entries()) {
    const middle = ends[2 * i]!;
    const end = ends[2 * i + 1]!;
    const value =
      row.after === undefined ? undefined : new Uint8Array(buffer, start, middle - start);
    const previous =
      row.before === undefined ? undefined : new Uint8Array(buffer, middle, end - middle);
    start = end;
    if (value === undefined || previous === undefined || !equal(value, previous)) {
      encoded.push(new EncodedRow(row, value, previous));
    }
    if (slice.isOver()) await slice.yield();
  }
  return encoded;
}
