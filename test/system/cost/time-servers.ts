/**
 * Three time servers in a separate process, so that a busy attacker does not delay their answers.
 * The process first reports their addresses; each message makes one of them lie.
 */
import { timeServer } from '../../adapters/time-server.ts';

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
