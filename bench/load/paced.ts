/**
 * Requests at a fixed rate, however long the answers take, so that a slow server cannot slow down
 * the measurement.
 */
import { Pool } from 'undici';

export interface PacedRequest {
  /** Origin such as http://127.0.0.1:6862. */
  readonly origin: string;
  readonly path: string;
  readonly body: string;
}

const CONNECTIONS = 16;
const HEADERS = { 'content-type': 'application/json' };

/** Gives the time of each answer by `performance.now()`. Rejects where one is not a 200. */
export async function postPaced(
  requests: readonly PacedRequest[],
  perSecond: number,
): Promise<number[]> {
  const pools = new Map<string, Pool>();
  const poolOf = (origin: string): Pool => {
    const pool = pools.get(origin) ?? new Pool(origin, { connections: CONNECTIONS });
    pools.set(origin, pool);
    return pool;
  };
  async function send({ origin, path, body }: PacedRequest): Promise<number> {
    const answer = await poolOf(origin).request({ path, method: 'POST', headers: HEADERS, body });
    const at = performance.now();
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`POST ${path}: ${answer.statusCode} ${text}`);
    return at;
  }

  const start = performance.now();
  const answers: Promise<number>[] = [];
  for (const [i, request] of requests.entries()) {
    const wait = start + (i * 1000) / perSecond - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    answers.push(send(request));
  }
  try {
    return await Promise.all(answers);
  } finally {
    await Promise.all(Array.from(pools.values(), (pool) => pool.close()));
  }
}
