/** Compares stored blocks with those of a node: their signatures and their transactions. */
import type { Database } from '../../base/database.ts';
import type { NodeReader } from './node-reader.ts';
import { readTip } from './store-end.ts';

export interface Verified {
  readonly from: number;
  readonly to: number;
  /** Heights at which the two differ, at most 100 of them. */
  readonly different: readonly number[];
}

const RANGE = 50;
const DIFFERENT_MAX = 100;

export async function verifyBlocks(
  db: Database,
  node: NodeReader,
  from: number,
  to?: number,
): Promise<Verified> {
  const last = Math.min(to ?? Number.MAX_SAFE_INTEGER, (await readTip(db)).height);
  const different: number[] = [];
  for (let start = from; start <= last && different.length < DIFFERENT_MAX; start += RANGE) {
    const end = Math.min(last, start + RANGE - 1);
    const stored = await db.query<{ height: number; signature: string; ids: string | null }>(
      `SELECT b.height, b.signature,
         (SELECT string_agg(t.id, ' ' ORDER BY t.seq) FROM txs t
          WHERE t.seq >= b.first_seq AND t.seq < b.first_seq + b.tx_count) AS ids
       FROM blocks b WHERE b.height BETWEEN $1 AND $2`,
      [start, end],
    );
    const { blocks } = await node.blocks(start, end);
    const given = new Map(blocks.map((block) => [block.height, block]));
    for (const { height, signature, ids } of stored) {
      const block = given.get(height);
      const listed = block?.transactions.map(({ id }) => String(id)).join(' ');
      if (block?.signature !== signature || listed !== (ids ?? '')) different.push(height);
    }
  }
  return { from, to: last, different };
}
