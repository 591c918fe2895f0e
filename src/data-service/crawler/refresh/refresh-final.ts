/**
 * Keeps the height in `meta` up to which stored blocks are final (data-service.md#final-blocks). Nothing is written
 * where the node knows no final block, so stores of other networks stay as they are.
 */

import type { Database, Queries } from '../../../base/ports/database.ts';
import { readMeta, writeMeta } from '../../schema/migrate.ts';
import { notifyOfChain } from '../../schema/notices.ts';
import { FINAL_HEIGHT } from '../../schema/tables.ts';
import { assertEnd, lockedEnd, readTip } from '../store-end.ts';
import { type BesideCrawl, besideCrawl, type Pass, type RefreshDeps } from './beside-crawl.ts';

export const finalRefresher = ({ db, clock, log }: RefreshDeps): BesideCrawl =>
  besideCrawl(
    async (pass) => {
      await refreshFinal(db, pass);
      return false;
    },
    clock,
    (why) => log.warn('crawl.final-failed', { why }),
  );

async function refreshFinal(db: Database, { node, assertLocked }: Pass): Promise<void> {
  const stored = await readTip(db);
  const known = Number((await readMeta(db, FINAL_HEIGHT)) ?? 0);
  const height = Math.min(await node.shownFinalHeight(), stored.height);
  if (height <= known) return;
  const [block] = await db.query<{ signature: string }>(
    'SELECT signature FROM blocks WHERE height = $1',
    [height],
  );
  // Asked after the height: at or below it the node has the blocks that stay.
  if (block === undefined || (await node.signatureAt(height)) !== block.signature) return;
  assertLocked();
  await db.transaction(async (queries) => {
    assertEnd(await lockedEnd(queries), stored);
    await writeMeta(queries, FINAL_HEIGHT, String(height));
    await notifyOfChain(queries, stored.height);
  });
}

/** Beside the removal of the blocks above a height, which an operator may force. */
export async function forgetFinal(db: Queries, height: number): Promise<void> {
  await db.query(
    `UPDATE meta SET value = least(value::int, $1::int)::text WHERE key = '${FINAL_HEIGHT}'`,
    [height],
  );
}
