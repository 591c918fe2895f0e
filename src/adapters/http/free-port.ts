import { createServer } from 'node:net';

/**
 * The port to listen on; rejects where another process listens there. The native server shares a
 * fixed port with any process that asks, so two nodes would each get half of the requests. Its
 * exclusive mode would refuse the port for a minute after a restart.
 */
export async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (cause) =>
      reject(new Error(`HTTP: cannot listen on ${host}:${port}`, { cause })),
    );
    probe.listen({ host, port, exclusive: true }, resolve);
  });
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : port;
}
