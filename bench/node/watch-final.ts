/** Records when each node knew which height as final, by repeated requests. */
import type { NodeProcess } from './node-process.ts';
import { type Seen, type Watch, watch } from './watch.ts';

interface Final {
  readonly finalHeight: number;
}

export const watchFinal = (nodes: readonly NodeProcess[], everyMs: number): Watch<Final> =>
  watch(nodes, everyMs, {
    path: '/node/status',
    read(json) {
      const { finalHeight = 0 } = json as Partial<Final>;
      return { finalHeight };
    },
    isSame: (one, other) => one.finalHeight === other.finalHeight,
  });

/** When a height was final. Undefined: not while it was watched. */
export const finalAt = (seen: readonly Seen<Final>[], height: number): number | undefined =>
  seen.find(({ finalHeight }) => finalHeight >= height)?.at;
