import { createServer } from 'node:net';
import { listening, portOf } from '../listening.ts';

/**
 * The port to listen on; rejects where another process listens there. The native server shares a
 * fixed port with any process that asks, so two nodes would each get half of the requests. Its
 * exclusive mode would refuse the port for a minute after a restart.
 */
export async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer();
  await listening(probe, { host, port, exclusive: true }).catch((cause) => {
    throw new Error(`HTTP: cannot listen on ${host}:${port}`, { cause });
  });
  const found = portOf(probe) ?? port;
  await new Promise((resolve) => probe.close(resolve));
  return found;
}
