/** TCP ports of this machine that no process uses. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the range from which systems take ports for outgoing connections. Otherwise a connection of
 * any program could take the port before a process listens on it.
 */
const FIRST = 10_000;
const LAST = 32_000;

/** Different ports on which this machine can listen now. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = randomInt(FIRST, LAST);
    if (!found.has(port) && (await isFree(port))) found.add(port);
  }
  return [...found];
}

export const isFree = async (port: number): Promise<boolean> =>
  (await listenProblem('127.0.0.1', port)) === undefined;

/** Why nobody can listen there; undefined where the port is free. */
export function listenProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
