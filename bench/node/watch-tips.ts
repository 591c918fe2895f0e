/** Records when each node got which newest block, by repeated requests. */
import { Pool } from 'undici';
import type { NodeProcess } from './node-process.ts';

export interface SeenTip {
  readonly height: number;
  readonly signature: string;
  /** By `performance.now()`, when the answer was there. */
  readonly at: number;
}

export interface TipWatch {
  /** New tips of each node, in order. */
  readonly seen: readonly (readonly SeenTip[])[];
  stop(): Promise<void>;
}

const PATH = '/blocks/headers/last';

/** `everyMs` lies between an answer and the next question to the same node. */
export function watchTips(nodes: readonly NodeProcess[], everyMs: number): TipWatch {
  const seen = nodes.map((): SeenTip[] => []);
  let stopped = false;

  async function watch({ port }: NodeProcess, tips: SeenTip[]): Promise<void> {
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 });
    while (!stopped) {
      const answer = await pool.request({ path: PATH, method: 'GET' });
      const at = performance.now();
      const { height, signature } = (await answer.body.json()) as Omit<SeenTip, 'at'>;
      if (tips.at(-1)?.signature !== signature) tips.push({ height, signature, at });
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
    await pool.close();
  }
  const watches = nodes.map((node, i) => watch(node, seen[i]!));
  return {
    seen,
    async stop() {
      stopped = true;
      await Promise.all(watches);
    },
  };
}

/**
 * When a node had a block or one above it for good: `ids` are the signatures of the chain that
 * remained, by height. Undefined: not while it was watched.
 */
export function hadAt(
  tips: readonly SeenTip[],
  height: number,
  ids: ReadonlyMap<number, string>,
): number | undefined {
  return tips.find((tip) => tip.height >= height && ids.get(tip.height) === tip.signature)?.at;
}
