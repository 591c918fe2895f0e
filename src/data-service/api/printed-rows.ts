/** Rows as the bytes of a JSON list, one row after the other, so that other requests run in between. */
import { stringify } from '../../base/json/json.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';

export async function printedRows<R>(
  rows: readonly R[],
  shape: (row: R) => unknown,
  clock: Pick<Clock, 'monotonic' | 'turn'>,
): Promise<Uint8Array> {
  const slice = new TimeSlice(clock);
  const parts: Uint8Array[] = [];
  for (const row of rows) {
    parts.push(Buffer.from(`${parts.length === 0 ? '[' : ','}${stringify(shape(row))}`));
    if (slice.isOver()) await slice.yield();
  }
  parts.push(Buffer.from(parts.length === 0 ? '[]' : ']'));
  return Buffer.concat(parts);
}
