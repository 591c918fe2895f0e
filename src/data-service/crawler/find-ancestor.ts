/** The last stored block that the node's chain still has (data-service.md#reorganisations). */
import type { Queries } from '../../base/database.ts';
import type { NodeReader } from './node-reader.ts';
import type { Tip } from './write-batch.ts';

/** The chains part so far back that an operator must decide. */
export class DeepReorganisation extends Error {
  override name = 'DeepReorganisation';

  constructor(height: number, depthMax: number) {
    super(
      `the node's chain differs from the stored one for more than ${depthMax} blocks below ` +
        `height ${height} (max-rollback): check node-url, then run 'data rollback --to <height>'`,
    );
  }
}

/** Height 0 where not even the first block is the same. Throws DeepReorganisation. */
export async function findAncestor(
  db: Queries,
  node: NodeReader,
  top: number,
  depthMax: number,
): Promise<Tip> {
  let shared = await lowerBound(db, node, top, depthMax);
  let different = shared.next;
  while (different - shared.tip.height > 1) {
    const middle = Math.floor((shared.tip.height + different) / 2);
    const signature = await agreed(db, node, middle);
    if (signature === undefined) different = middle;
    else shared = { tip: { height: middle, signature }, next: different };
  }
  return shared.tip;
}

/** A shared block, found by steps of 1, 2, 4 …, and the lowest height known to differ. */
async function lowerBound(
  db: Queries,
  node: NodeReader,
  top: number,
  depthMax: number,
): Promise<{ tip: Tip; next: number }> {
  let next = top + 1;
  for (let step = 0; ; step = Math.max(1, step * 2)) {
    const height = Math.max(0, top - step);
    const deepest = Math.max(0, top - depthMax);
    const at = Math.max(height, deepest);
    if (at === 0) return { tip: { height: 0, signature: '' }, next };
    const signature = await agreed(db, node, at);
    if (signature !== undefined) return { tip: { height: at, signature }, next };
    if (at === deepest) throw new DeepReorganisation(top, depthMax);
    next = at;
  }
}

/** The signature at a height where both chains have the same. */
async function agreed(db: Queries, node: NodeReader, height: number): Promise<string | undefined> {
  const rows = await db.query<{ signature: string }>(
    'SELECT signature FROM blocks WHERE height = $1',
    [height],
  );
  const stored = rows[0]?.signature;
  return stored !== undefined && stored === (await node.signatureAt(height)) ? stored : undefined;
}
