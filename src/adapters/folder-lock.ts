/**
 * One process for each data folder (scenario 10), enforced by the operating system.
 *
 * The lock is a listening socket in the folder. Only a live process answers on it. So kill -9
 * releases it, a reused process id cannot be mistaken for the holder, and it works between
 * containers that share a folder, where process ids and abstract sockets do not.
 *
 * Every process listens under a name of its own that is never used again, and then looks for others.
 * So of two processes that start together at least one sees the other. A socket without a listener
 * can be deleted, since its name never belongs to another process. A file system that several
 * machines share is the exception: a socket of another kernel never answers, so its lock stays.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { giveTo } from './file-owner.ts';
import { makeFolder } from './folders.ts';
import { listening } from './listening.ts';
import { fileSystemOf } from './shared-folders/file-systems.ts';
import { isForeign, type Kernel, originOf, thisKernel } from './shared-folders/lock-origin.ts';

export class StoreLockedError extends Error {
  override name = 'StoreLockedError';

  /** `foreign`: a lock that was made under another kernel. */
  constructor(folder: string, foreign?: string) {
    super(
      foreign === undefined
        ? `another process uses the folder ${folder}`
        : `a process of another machine may use the folder ${folder}: where it has ended for good, delete its lock '${foreign}'`,
    );
  }
}

export interface FolderLock {
  release(): void;
}

/** What decides on locks that nobody answers for. */
export interface LockPlace {
  readonly kernel: Kernel;
  /** Several machines may have the folder. */
  readonly isShared: boolean;
}

const placeOf = (folder: string): LockPlace => ({
  kernel: thisKernel(),
  isShared: fileSystemOf(folder).isShared !== 'no',
});

/** How the sockets of those begin who hold a folder. */
const namesFor = (purpose = ''): string => `${purpose}lock-`;

/**
 * Throws StoreLockedError while another process holds the folder. `purpose`: begins the names of the
 * sockets; locks for different purposes do not see each other.
 */
export async function lockFolder(
  folder: string,
  purpose = '',
  place?: LockPlace,
): Promise<FolderLock> {
  makeFolder(folder);
  const { kernel, isShared } = place ?? placeOf(folder);
  const held = namesFor(purpose);
  // The socket is bound but perhaps not listening yet; it is renamed once it listens.
  const starting = `${purpose}locking-`;
  const { sockets, close } = socketsIn(folder);
  const token = randomBytes(8).toString('hex') + originOf(kernel);
  const own = held + token;
  const server = createServer((socket) => socket.destroy());
  server.unref();

  const release = (): void => {
    rmSync(join(folder, own), { force: true });
    server.close();
    close();
  };

  try {
    const where = { path: join(sockets, starting + token) };
    await listening(server, where).catch((cause: NodeJS.ErrnoException) => {
      throw NO_ACCESS.has(cause.code ?? '') ? notWritable(folder, cause) : cause;
    });
    // One that root leaves behind would look to the user of the folder as if somebody listened.
    giveTo(statSync(folder), join(folder, starting + token));
    renameSync(join(folder, starting + token), join(folder, own));
    for (const name of readdirSync(folder)) {
      if (name === own || !(name.startsWith(held) || name.startsWith(starting))) continue;
      if (await answers(join(sockets, name))) throw new StoreLockedError(folder);
      const path = join(folder, name);
      if (isShared && isForeign(name, madeAt(path), kernel))
        throw new StoreLockedError(folder, path);
      rmSync(path, { force: true });
    }
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

const NO_ACCESS: ReadonlySet<string> = new Set(['EACCES', 'EROFS']);

/** The system names the socket, by a number that only this process knows. */
const notWritable = (folder: string, { code }: NodeJS.ErrnoException): Error =>
  Object.assign(new Error(`${code}: this user cannot write to the folder ${folder}`), { code });

/** It may be gone since it was listed. */
const madeAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Of a person who waits for a short piece of work of another process. */
const WAIT_MS_MAX = 60_000;
/** At random, since of two that try at the same time neither may get it. */
const RETRY_MS = { least: 20, spread: 80 };

/** Like `lockFolder`, but waits for others. Throws StoreLockedError where one keeps it for a minute. */
export async function awaitFolderLock(folder: string, purpose: string): Promise<FolderLock> {
  const end = performance.now() + WAIT_MS_MAX;
  for (;;) {
    try {
      return await lockFolder(folder, purpose);
    } catch (error) {
      if (!(error instanceof StoreLockedError) || performance.now() > end) throw error;
    }
    await pause(RETRY_MS.least + Math.random() * RETRY_MS.spread);
  }
}

/** Whether a process of this kernel holds the folder. */
export async function isLocked(folder: string): Promise<boolean> {
  const { sockets, close } = socketsIn(folder);
  try {
    for (const name of readdirSync(folder)) {
      if (name.startsWith(namesFor()) && (await answers(join(sockets, name)))) return true;
    }
    return false;
  } finally {
    close();
  }
}

/** Socket paths have at most 107 bytes; relative to the open folder every path is short. */
function socketsIn(folder: string): { readonly sockets: string; close(): void } {
  if (process.platform !== 'linux') return { sockets: folder, close: () => undefined };
  const descriptor = openSync(folder, 'r');
  return { sockets: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) };
}

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
