/**
 * A socket file for each container, alone in a folder that the container sees read-only. Only this
 * container reaches it, so no other container can use its tokens.
 */
import { chmodSync, closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { contractLimits as limits } from '../../../base/limits/contract-limits.ts';
import type { Clock } from '../../../base/ports/clock.ts';
import type { Random } from '../../../base/ports/random.ts';
import { listenGrpc } from './listener.ts';
import type { Reachable } from './reachable.ts';
import { watchTraffic } from './traffic.ts';

const SOCKET = 'grpc.sock';
const NAME_BYTES = 4;
/** The whole path of a socket file; the operating system takes 107 bytes. */
const PATH_BYTES_MAX = 107;
/** Where the container sees the folder. */
const MOUNTED = '/run/node';

/** Throws where the folder cannot be made. */
export function listenOnSockets(
  folder: string,
  { clock, random }: { readonly clock: Pick<Clock, 'after'>; readonly random: Random },
): Reachable {
  // What a node that was killed left behind.
  rmSync(folder, { recursive: true, force: true });
  openFolder(folder);
  return {
    needsNetwork: false,

    async open(container) {
      const own = join(folder, Buffer.from(random.bytes(NAME_BYTES)).toString('hex'));
      openFolder(own);
      const traffic = watchTraffic(container, clock);
      const listener = await inFolder(own, (path) =>
        listenGrpc(
          { path },
          limits.connections.value,
          {
            connected(connection) {
              traffic.began();
              traffic.connected(connection);
            },
            disconnected: traffic.disconnected,
            begin: (_connection, rpc, token) => container.begin(rpc, token),
          },
          clock,
        ),
      );
      // Containers run as other users.
      chmodSync(join(own, SOCKET), 0o666);
      return {
        node: 'unix',
        nodePort: `${MOUNTED}/${SOCKET}`,
        mounts: [{ source: own, target: MOUNTED }],
        async close() {
          traffic.stop();
          await listener.close();
          rmSync(own, { recursive: true, force: true });
        },
      };
    },

    async close() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Containers run as other users, so everyone may pass; the umask does not count. */
function openFolder(path: string): void {
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o755);
}

/**
 * The path of a socket is short by decree of the operating system, the path of a data directory is
 * not. A folder that is open has a short name, too.
 */
async function inFolder<T>(folder: string, listen: (path: string) => Promise<T>): Promise<T> {
  const path = join(folder, SOCKET);
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return listen(path);
  const open = openSync(folder, 'r');
  try {
    return await listen(`/proc/self/fd/${open}/${SOCKET}`);
  } finally {
    closeSync(open);
  }
}
