/** Records when each node knew which height as final, by repeated requests. */
import { Pool } from 'undici';
import type { NodeProcess } from './node-process.ts';

export interface SeenFinal {
  readonly height: number;
  /** By `performance.now()`, when the answer was there. */
  readonly at: number;
}

export interface FinalWatch {
  /** Growing heights of each node. */
  readonly seen: readonly (readonly SeenFinal[])[];
  stop(): Promise<void>;
}

const PATH = '/node/status';

/** `everyMs` lies between an answer and the next question to the same node. */
export function watchFinal(nodes: readonly NodeProcess[], everyMs: number): FinalWatch {
  const seen = nodes.map((): SeenFinal[] => []);
  let stopped = false;

  async function watch({ port }: NodeProcess, heights: SeenFinal[]): Promise<void> {
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 });
    while (!stopped) {
      const answer = await pool.request({ path: PATH, method: 'GET' });
      const at = performance.now();
      const { finalHeight } = (await answer.body.json()) as { readonly finalHeight: number };
      if (heights.at(-1)?.height !== finalHeight) heights.push({ height: finalHeight, at });
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

/** When a height was final. Undefined: not while it was watched. */
export const finalAt = (seen: readonly SeenFinal[], height: number): number | undefined =>
  seen.find((one) => one.height >= height)?.at;
