/**
 * Confidential data as files: `<directory>/<policy>/<hash>`, both in Base58, each a record of item
 * and data (record.ts).
 *
 * Invariants: a file under its final name is complete and on disk; a file that is being written has
 * another name in a separate folder, which is emptied at start; only their owner can read folders
 * and files.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import {
  access,
  type FileHandle,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  statfs,
} from 'node:fs/promises';
import { join } from 'node:path';
import { base58 } from '../../base/base58.ts';
import { leave, leaveOpen, NOT_THE_WORLD, statIfAny, takeAfter } from '../file-owner.ts';
import { makeFolder } from '../folders.ts';
import { DamagedRecord, dataStart, itemIn, RECORD_PREFIX_BYTES, recordHead } from './record.ts';
import { policyIdOf, type Shelf } from './shelf.ts';

const OWNER_ONLY = { folder: 0o700, file: 0o600 };
const PIECE_BYTES = 256 * 1024;
const UNFINISHED = '.unfinished';

/** Throws the error of the file system where the folder cannot be made or changed. */
export function filesShelf(directory: string): Shelf {
  const unfinished = join(directory, UNFINISHED);
  rmSync(unfinished, { recursive: true, force: true });
  makeFolder(unfinished, OWNER_ONLY.folder);

  const folderOf = (policyId: Uint8Array): string => join(directory, base58.encode(policyId));
  const pathOf = (policyId: Uint8Array, hash: Uint8Array): string =>
    join(folderOf(policyId), base58.encode(hash));

  return {
    async info(policyId, hash) {
      const file = await openIfAny(pathOf(policyId, hash));
      if (file === undefined) return undefined;
      try {
        return itemIn(await headOf(file));
      } finally {
        await file.close();
      }
    },

    async policiesOf(hash) {
      const name = base58.encode(hash);
      const found: Uint8Array[] = [];
      for (const folder of await readdir(directory)) {
        const policyId = policyIdOf(folder);
        if (policyId !== undefined && (await exists(join(directory, folder, name)))) {
          found.push(policyId);
        }
      }
      return found;
    },

    async open(policyId, hash) {
      const path = pathOf(policyId, hash);
      return (await exists(path)) ? () => dataOf(path) : undefined;
    },

    async put(item, pieces) {
      const folder = folderOf(item.policyId);
      const temporary = join(unfinished, randomBytes(12).toString('hex'));
      try {
        const path = pathOf(item.policyId, item.hash);
        await writeRecord(temporary, recordHead(item), pieces, path);
        await mkdir(folder, { recursive: true, mode: OWNER_ONLY.folder });
        leave(folder);
        await syncFolder(directory);
        await rename(temporary, path);
      } catch (cause) {
        await rm(temporary, { force: true });
        throw cause;
      }
      await syncFolder(folder);
    },

    async freeBytes() {
      const { bavail, bsize } = await statfs(directory);
      return bavail * bsize;
    },

    stop: async () => {},
  };
}

async function writeRecord(
  path: string,
  head: Uint8Array,
  pieces: AsyncIterable<Uint8Array>,
  replaced: string,
): Promise<void> {
  const file = await open(path, 'wx', OWNER_ONLY.file);
  try {
    const old = statIfAny(replaced);
    if (old === undefined) leaveOpen(file.fd, path);
    else takeAfter(file.fd, old, NOT_THE_WORLD);
    await file.writeFile(head);
    for await (const piece of pieces) await file.writeFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** All bytes before the data. Rejects with DamagedRecord. */
async function headOf(file: FileHandle): Promise<Uint8Array> {
  const start = dataStart(await bytesFrom(file, RECORD_PREFIX_BYTES));
  return bytesFrom(file, start);
}

async function* dataOf(path: string): AsyncIterable<Uint8Array> {
  const file = await open(path, 'r');
  try {
    let at = dataStart(await bytesFrom(file, RECORD_PREFIX_BYTES));
    while (true) {
      // Each piece has its own buffer, because the consumer may keep it.
      const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
      const { bytesRead } = await file.read(buffer, 0, PIECE_BYTES, at);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}

/** From the beginning of the file. Rejects with DamagedRecord where it is too short. */
async function bytesFrom(file: FileHandle, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, done);
    if (bytesRead === 0) throw new DamagedRecord('the file is cut off');
    done += bytesRead;
  }
  return bytes;
}

async function openIfAny(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (cause) {
    if (isAbsence(cause)) return undefined;
    throw cause;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (cause) {
    if (isAbsence(cause)) return false;
    throw cause;
  }
}

const isAbsence = (cause: unknown): boolean => (cause as NodeJS.ErrnoException).code === 'ENOENT';

/** Makes new names in a folder durable. Windows cannot open folders. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
