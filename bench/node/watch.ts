/** Asks each node the same again and again, and records when its answer changed. */
import { Pool } from 'undici';
import type { NodeProcess } from './node-process.ts';

/** `at` is by `performance.now()`, when the answer was there. */
export type Seen<Answer> = Answer & { readonly at: number };

export interface Watch<Answer> {
  /** Changed answers of each node, in order. */
  readonly seen: readonly (readonly Seen<Answer>[])[];
  stop(): Promise<void>;
}

export interface Question<Answer> {
  readonly path: string;
  /** What of an answer is of interest. */
  read(json: unknown): Answer;
  isSame(one: Answer, other: Answer): boolean;
}

/** `everyMs` lies between an answer and the next question to the same node. */
export function watch<Answer extends object>(
  nodes: readonly NodeProcess[],
  everyMs: number,
  { path, read, isSame }: Question<Answer>,
): Watch<Answer> {
  const seen = nodes.map((): Seen<Answer>[] => []);
  let stopped = false;

  async function ask({ port }: NodeProcess, answers: Seen<Answer>[]): Promise<void> {
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 });
    while (!stopped) {
      const answer = await pool.request({ path, method: 'GET' });
      const at = performance.now();
      const found = read(await answer.body.json());
      const last = answers.at(-1);
      if (last === undefined || !isSame(last, found)) answers.push({ ...found, at });
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
    await pool.close();
  }
  const watches = Promise.all(nodes.map((node, i) => ask(node, seen[i]!)));
  // A failure is told by `stop`.
  watches.catch(() => undefined);
  return {
    seen,
    async stop() {
      stopped = true;
      await watches;
    },
  };
}
