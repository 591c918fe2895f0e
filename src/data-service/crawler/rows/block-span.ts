/** How far the times of a block and its transactions reach. */
import type { JsonObject } from '../../../base/json/json.ts';
import { TIME_TOLERANCE_MS } from '../../schema/tables.ts';
import type { ChainBlock } from '../chain-block.ts';

/** Of a transaction; 0 where the node gives none. */
export const timeOf = ({ timestamp }: JsonObject): number =>
  Number.isSafeInteger(timestamp) ? (timestamp as number) : 0;

/** The first and the last time; undefined where none is far from that of the block. */
export function spanOf({
  timestamp,
  transactions,
}: ChainBlock): readonly [number, number] | undefined {
  let [from, to] = [timestamp, timestamp];
  for (const tx of transactions) {
    const time = timeOf(tx);
    if (time < from) from = time;
    else if (time > to) to = time;
  }
  const isFar = timestamp - from > TIME_TOLERANCE_MS || to - timestamp > TIME_TOLERANCE_MS;
  return isFar ? [from, to] : undefined;
}
