/** Blocks of the chain of a node, and which transaction is in which. */
import type { NodeProcess } from './node-process.ts';

export interface Blocks {
  /** Signatures of blocks by height. */
  readonly ids: ReadonlyMap<number, string>;
  /** Heights by the id of a transaction. */
  readonly heights: ReadonlyMap<string, number>;
}

interface BlockJson {
  readonly signature: string;
  readonly transactions: readonly { readonly id: string }[];
}

/** From the one height to the other, both included. */
export async function blocksBetween(
  node: NodeProcess,
  first: number,
  last: number,
): Promise<Blocks> {
  const ids = new Map<number, string>();
  const heights = new Map<string, number>();
  for (let height = first; height <= last; height++) {
    const block = (await node.get(`/blocks/at/${height}`)) as BlockJson;
    ids.set(height, block.signature);
    for (const { id } of block.transactions) heights.set(id, height);
  }
  return { ids, heights };
}
