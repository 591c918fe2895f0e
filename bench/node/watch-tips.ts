/** Records when each node got which newest block, by repeated requests. */
import type { NodeProcess } from './node-process.ts';
import { type Seen, type Watch, watch } from './watch.ts';

interface Tip {
  readonly height: number;
  readonly signature: string;
}

export const watchTips = (nodes: readonly NodeProcess[], everyMs: number): Watch<Tip> =>
  watch(nodes, everyMs, {
    path: '/blocks/headers/last',
    read(json) {
      const { height, signature } = json as Tip;
      return { height, signature };
    },
    isSame: (one, other) => one.signature === other.signature,
  });

/**
 * When a node had a block or one above it for good: `ids` are the signatures of the chain that
 * remained, by height. Undefined: not while it was watched.
 */
export function hadAt(
  tips: readonly Seen<Tip>[],
  height: number,
  ids: ReadonlyMap<number, string>,
): number | undefined {
  return tips.find((tip) => tip.height >= height && ids.get(tip.height) === tip.signature)?.at;
}
