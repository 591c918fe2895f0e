/** Servers of Node: how they begin to listen, and where they do. */
import type { ListenOptions, Server } from 'node:net';

/**
 * Rejects where the address cannot be bound. From then on a server goes on where it could not accept a
 * connection.
 */
export async function listening(server: Server, where: ListenOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', () => {});
}

/** Undefined for one that has a path. */
export function portOf(server: Server): number | undefined {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : undefined;
}
