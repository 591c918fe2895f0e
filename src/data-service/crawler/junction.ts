/**
 * Where the chain of a node continues the stored one (data-service.md#reorganisations). A node that
 * is only behind shows no other block, and nothing is removed for it.
 */
import type { Queries } from '../../base/database.ts';
import { DeepReorganisation, findAncestor, storedSignature } from './find-ancestor.ts';
import { NodeAway, type NodeReader } from './node-reader.ts';
import type { Tip } from './store-end.ts';

export interface Junction {
  /** The last stored block that the node has, too. */
  readonly after: Tip;
  readonly nodeHeight: number;
}

/**
 * The first node that has the stored tip, or another block in its place, decides. A chain that is
 * shorter than the stored one is followed only where all nodes answer and none has a longer one.
 * Undefined where the nodes that answer are behind. Throws NodeAway where none answers, and
 * DeepReorganisation where each node has another chain.
 */
export async function findJunction(
  db: Queries,
  node: NodeReader,
  tip: Tip,
  maxRollback: number,
): Promise<Junction | undefined> {
  let deep: DeepReorganisation | undefined;
  let isOneBehind = false;
  let hasAnswered = false;
  let away: NodeAway | undefined;
  for (const followsShorter of [false, true]) {
    // One that is away may have the stored chain.
    if (followsShorter && away !== undefined) break;
    for (let tried = 0; tried < node.count; tried++) {
      const one = node.current();
      try {
        const nodeHeight = await one.height();
        hasAnswered = true;
        const top = Math.min(nodeHeight, tip.height);
        if (top === 0) return { after: tip, nodeHeight };
        const shown = await one.signatureAt(top);
        const isSame = shown === (await storedSignature(db, top));
        if (isSame && top === tip.height) return { after: tip, nodeHeight };
        isOneBehind ||= isSame || shown === undefined;
        if (!isSame && shown !== undefined && (followsShorter || top === tip.height)) {
          const parting = { top, height: tip.height, depthMax: maxRollback };
          return { after: await findAncestor(db, one, parting), nodeHeight };
        }
        node.leave(`it has ${nodeHeight} blocks, and not the stored block ${tip.height}`);
      } catch (cause) {
        if (cause instanceof DeepReorganisation) deep = cause;
        else if (cause instanceof NodeAway) away = cause;
        else throw cause;
        node.leave(cause.message);
      }
    }
  }
  if (away !== undefined && (deep !== undefined || !hasAnswered)) throw away;
  if (deep !== undefined && !isOneBehind) throw deep;
  return undefined;
}
