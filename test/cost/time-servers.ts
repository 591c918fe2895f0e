/**
 * Three time servers in a process of their own, so that an attack which keeps its program busy does
 * not delay their answers. Tells their places first; each message makes one of them lie.
 */
import { timeServer } from '../adapters/time-server.ts';

export interface Lie {
  readonly server: number;
  /** What it adds to the true time, when it says it received and when it says it sent. */
  readonly receivedMs: number;
  readonly sentMs: number;
}

const scope = { teardown: () => {} };
const servers = [await timeServer(scope), await timeServer(scope), await timeServer(scope)];

process.on('message', ({ server, receivedMs, sentMs }: Lie) => {
  servers[server]?.lie(receivedMs, sentMs);
});
process.send?.(servers.map(({ place }) => place));
