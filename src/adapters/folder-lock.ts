/**
 * One process for each data folder (scenario 10), enforced by the operating system.
 *
 * The lock is a listening socket in the folder. Only a live process answers on it. So kill -9
 * releases it, a reused process id cannot be mistaken for the holder, and it works between
 * containers that share a folder, where process ids and abstract sockets do not.
 *
 * Every process listens under a name of its own that is never used again, and then looks for
 * others. So of two processes that start together at least one sees the other. A socket without a
 * listener can be deleted, since its name never belongs to another process.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { giveTo } from './file-owner.ts';
import { makeFolder } from './folders.ts';

export class StoreLockedError extends Error {
  override name = 'StoreLockedError';

  constructor(folder: string) {
    super(`another process uses the folder ${folder}`);
  }
}

export interface FolderLock {
  release(): void;
}

const LOCK = 'lock-';
/** The socket is bound but perhaps not listening yet; it is renamed once it listens. */
const STARTING = 'locking-';

/** Throws StoreLockedError while another process holds the folder. */
export async function lockFolder(folder: string): Promise<FolderLock> {
  makeFolder(folder);
  // Socket paths have at most 107 bytes; relative to the open folder every path is short.
  const descriptor = process.platform === 'linux' ? openSync(folder, 'r') : undefined;
  const place = descriptor === undefined ? folder : `/proc/self/fd/${descriptor}`;
  const token = randomBytes(8).toString('hex');
  const own = LOCK + token;
  const server = createServer((socket) => socket.destroy());
  server.unref();

  const release = (): void => {
    rmSync(join(folder, own), { force: true });
    server.close();
    if (descriptor !== undefined) closeSync(descriptor);
  };

  try {
    await listen(server, join(place, STARTING + token));
    // One that root leaves behind would look to the user of the folder as if somebody listened.
    giveTo(statSync(folder), join(folder, STARTING + token));
    renameSync(join(folder, STARTING + token), join(folder, own));
    for (const name of readdirSync(folder)) {
      if (name === own || !(name.startsWith(LOCK) || name.startsWith(STARTING))) continue;
      if (await answers(join(place, name))) throw new StoreLockedError(folder);
      rmSync(join(folder, name), { force: true });
    }
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });

/** True while a process listens there, even one that is too busy to accept. */
const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT');
    });
  });
