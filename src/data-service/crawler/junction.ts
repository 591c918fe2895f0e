/**
 * Where the chain of a node continues the stored one (data-service.md#reorganisations). A node that
 * is only behind shows no other block, and nothing is removed for it.
 */
import type { Queries } from '../../base/ports/database.ts';
import { DeepReorganisation, findAncestor, storedSignature } from './find-ancestor.ts';
import { assertNetwork, OtherNetwork } from './network.ts';
import { NodeAway, type NodeReader } from './node-reader.ts';
import type { Tip } from './store-end.ts';

export interface Junction {
  /** The node that decided, alone. */
  readonly node: NodeReader;
  /** The last stored block that the node has, too. */
  readonly after: Tip;
  readonly nodeHeight: number;
}

/** The chain of a node that has another block at `top`. */
interface Parting {
  readonly node: NodeReader;
  readonly nodeHeight: number;
  readonly top: number;
}

/**
 * The first node that has the stored tip, or another block in its place, decides. A chain that is
 * shorter than the stored one is followed only where every node answers and none has a longer one.
 * Undefined where nodes are behind. Throws NodeAway where one that gives no answer could decide,
 * DeepReorganisation or OtherNetwork where each node has another chain.
 */
export async function findJunction(
  db: Queries,
  nodes: NodeReader,
  tip: Tip,
  maxRollback: number,
): Promise<Junction | undefined> {
  const reasons: Reason[] = [];
  const shorter: Parting[] = [];
  let isOneBehind = false;
  const attempt = async (found: () => Promise<Junction | undefined>) => {
    try {
      return await found();
    } catch (cause) {
      if (!isReason(cause)) throw cause;
      reasons.push(cause);
      return undefined;
    }
  };
  const parted = async ({ node, nodeHeight, top }: Parting): Promise<Junction> => {
    const parting = { top, height: tip.height, depthMax: maxRollback };
    return { node, after: await findAncestor(db, node, parting), nodeHeight };
  };
  const decided = async (node: NodeReader): Promise<Junction | undefined> => {
    await assertNetwork(db, node);
    const nodeHeight = await node.height();
    const top = Math.min(nodeHeight, tip.height);
    if (tip.height === 0) return { node, after: tip, nodeHeight };
    const shown = top === 0 ? undefined : await node.signatureAt(top);
    const isSame = shown === (await storedSignature(db, top));
    if (isSame && top === tip.height) return { node, after: tip, nodeHeight };
    if (isSame || shown === undefined) isOneBehind = true;
    else if (top === tip.height) return parted({ node, nodeHeight, top });
    else shorter.push({ node, nodeHeight, top });
    return undefined;
  };
  for (const node of nodes.each()) {
    const before = reasons.length;
    const junction = await attempt(() => decided(node));
    if (junction !== undefined) return junction;
    // It has been left where it gave no answer.
    if (!(reasons[before] instanceof NodeAway)) {
      node.leave(reasons[before]?.message ?? `it lacks the stored block ${tip.height}`);
    }
  }
  const isOneAway = reasons.some((reason) => reason instanceof NodeAway);
  for (const parting of isOneAway ? [] : shorter) {
    const junction = await attempt(() => parted(parting));
    if (junction !== undefined) return junction;
  }
  if (!isOneBehind && reasons.length > 0) throw weightiest(reasons);
  return undefined;
}

type Reason = NodeAway | DeepReorganisation | OtherNetwork;

const isReason = (cause: unknown): cause is Reason =>
  cause instanceof NodeAway || cause instanceof DeepReorganisation || cause instanceof OtherNetwork;

/** Only where all nodes answer must an operator act. */
function weightiest(reasons: readonly Reason[]): Reason {
  if (reasons.some((reason) => reason instanceof NodeAway)) {
    return new NodeAway(reasons.map(({ message }) => message).join('; '));
  }
  return reasons.find((reason) => reason instanceof DeepReorganisation) ?? reasons[0]!;
}
