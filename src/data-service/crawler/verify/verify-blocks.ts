/** Compares stored blocks with those of a node: their signatures and their transactions. */
import type { Database } from '../../../base/ports/database.ts';
import { transactionsOf } from '../block-parts.ts';
import type { ChainBlock } from '../chain-block.ts';
import { fetchRange } from '../fetch-blocks.ts';
import type { NodeReader } from '../node-reader.ts';
import { readTip } from '../store-end.ts';

export interface Verified {
  readonly from: number;
  /** The last height that both have, or that was asked for. */
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
  const tip = await readTip(db);
  // A node that is behind is not different.
  const last = Math.min(to ?? tip.height, tip.height, await node.height());
  const different: number[] = [];
  for (let start = from; start <= last && different.length < DIFFERENT_MAX; ) {
    const { blocks, to: end } = await fetchRange(node, start, Math.min(last, start + RANGE - 1));
    const stored = await db.query<{ height: number; signature: string; ids: string | null }>(
      `SELECT b.height, b.signature,
         (SELECT string_agg(t.id, ' ' ORDER BY t.seq) FROM txs t
          WHERE t.seq >= b.first_seq AND t.seq < b.first_seq + b.tx_count) AS ids
       FROM blocks b WHERE b.height BETWEEN $1 AND $2 ORDER BY b.height`,
      [start, end],
    );
    const given = new Map(blocks.map((block) => [block.height, block]));
    for (const { height, signature, ids } of stored) {
      const block = given.get(height);
      const listed = block && (await idsOf(block)).join(' ');
      if (block?.signature !== signature || listed !== (ids ?? '')) different.push(height);
    }
    start = end + 1;
  }
  return { from, to: last, different };
}

async function idsOf(block: ChainBlock): Promise<string[]> {
  const ids: string[] = [];
  for await (const part of transactionsOf(block)) ids.push(...part.map(({ id }) => String(id)));
  return ids;
}
