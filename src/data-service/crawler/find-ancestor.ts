/** The last stored block that the node's chain still has (data-service.md#reorganisations). */
import type { Queries } from '../../base/ports/database.ts';
import { NodeAway, type NodeReader } from './node-reader.ts';
import type { Tip } from './store-end.ts';

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

export interface Parting {
  /** A height at which the node has another block. */
  readonly top: number;
  /** Height of the store. */
  readonly height: number;
  /** The most blocks of the store that may go. */
  readonly depthMax: number;
}

/**
 * Height 0 where not even the first block is the same. Throws DeepReorganisation, and NodeAway where
 * the node has no block at a height that is asked for: that is no other block.
 */
export async function findAncestor(db: Queries, node: NodeReader, parting: Parting): Promise<Tip> {
  let shared = await lowerBound(db, node, parting);
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
  { top, height, depthMax }: Parting,
): Promise<{ tip: Tip; next: number }> {
  const deepest = Math.max(0, height - depthMax);
  let next = top;
  for (let step = 1; ; step *= 2) {
    const at = Math.max(top - step, deepest);
    if (at === 0) return { tip: { height: 0, signature: '' }, next };
    const signature = at < top ? await agreed(db, node, at) : undefined;
    if (signature !== undefined) return { tip: { height: at, signature }, next };
    if (at === deepest) throw new DeepReorganisation(height, depthMax);
    next = at;
  }
}

/** The signature at a height where both chains have the same. */
async function agreed(db: Queries, node: NodeReader, height: number): Promise<string | undefined> {
  const shown = await node.signatureAt(height);
  if (shown === undefined) throw new NodeAway(`the node has no block ${height} any more`);
  return shown === (await storedSignature(db, height)) ? shown : undefined;
}

export async function storedSignature(db: Queries, height: number): Promise<string | undefined> {
  const [row] = await db.query<{ signature: string }>(
    'SELECT signature FROM blocks WHERE height = $1',
    [height],
  );
  return row?.signature;
}
