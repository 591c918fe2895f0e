/**
 * Writes the file of a store anew without its free pages, in place of the old one.
 *
 * Invariants: nobody writes to the store meanwhile; at each moment its file is the old one or the
 * checked, synchronised new one; as long as COMPACTING is there the file of reader slots may belong to
 * the other file, so whoever opens the store next deletes both.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { StoreCorruptError } from '../../base/faults/store-damage.ts';
import { ANY, giveTo, takeAfter } from '../file-owner.ts';
import { lockFolder } from '../folder-lock.ts';
import { syncFolder } from '../folders.ts';
import { checkFile, extendFile, type FileUse, FORMAT, useOfFile } from './check.ts';
import { takeMark } from './check-mark.ts';
import {
  BINARY,
  dataFile,
  type EnvironmentOptions,
  openEnvironment,
  readingOptions,
  typed,
} from './environment.ts';
import { LOCK_FILE } from './reader-slots.ts';
import { COMPACTING } from './reading.ts';

export interface Compacted {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/**
 * `room` gets the most bytes that the new file may have, before it is written. Rejects with
 * StoreLockedError while another process has the store open, and with StoreCorruptError where it is
 * damaged; then nothing has changed.
 */
export async function compactStore(
  options: EnvironmentOptions,
  room: (bytes: number) => Promise<void>,
): Promise<Compacted> {
  const { folder } = options;
  if (!existsSync(dataFile(folder))) throw new Error(`there is no store in ${folder}`);
  const lock = await lockFolder(folder);
  try {
    endCompaction(folder);
    const use = await soundUse(options);
    await room((use.pages - use.freePages) * use.pageBytes);
    const bytesBefore = statSync(dataFile(folder)).size;
    mkdirSync(join(folder, COMPACTING), { mode: 0o700 });
    // Where root is interrupted, the user of the node must be able to remove it.
    giveTo(statSync(folder), join(folder, COMPACTING));
    try {
      await writeAnew(options, use);
      renameSync(dataFile(join(folder, COMPACTING)), dataFile(folder));
      syncFolder(folder);
    } finally {
      endCompaction(folder);
    }
    takeMark(folder).closed();
    return { bytesBefore, bytesAfter: statSync(dataFile(folder)).size };
  } catch (cause) {
    throw typed(folder, cause);
  } finally {
    lock.release();
  }
}

/** Removes what a compaction has left, whenever it ended. The folder must be locked. */
export function endCompaction(folder: string): void {
  const left = join(folder, COMPACTING);
  if (!existsSync(left)) return;
  // Until the new file leaves it the slots are right, and a reader may have one.
  if (!existsSync(dataFile(left))) rmSync(join(folder, LOCK_FILE), { force: true });
  syncFolder(folder);
  rmSync(left, { recursive: true });
  syncFolder(folder);
}

/** What the file is used for, once all of it has been checked. */
async function soundUse({ folder, tables }: EnvironmentOptions): Promise<FileUse> {
  const path = dataFile(folder);
  const state = await checkFile(path, tables);
  const use = state.kind === 'intact' ? await useOfFile(path, tables) : state;
  if (use.kind === 'used') {
    extendFile(path);
    return use;
  }
  if (use.kind === 'new') throw new Error(`there is no store in ${folder}`);
  throw new StoreCorruptError(folder, use.kind === 'old' ? 'its rows have no checksums' : use.why);
}

async function writeAnew(options: EnvironmentOptions, was: FileUse): Promise<void> {
  const { folder, tables } = options;
  const to = join(folder, COMPACTING);
  const path = dataFile(to);
  const root = open(folder, { ...readingOptions(options), readOnly: true });
  try {
    await root.backup(to, true);
  } finally {
    await root.close();
  }
  await joinBeginnings({ ...options, folder: to });
  const state = await checkFile(path, tables);
  const use = await useOfFile(path, tables);
  const isSame =
    state.kind === 'intact' &&
    use.kind === 'used' &&
    [...was.tables].every(([id, { rows }]) => use.tables.get(id)?.rows === rows);
  if (!isSame) throw new Error('the new file differs from the old one, which stays');
  const file = openSync(path, 'r+');
  try {
    takeAfter(file, statSync(dataFile(folder)), ANY);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** LMDB leaves the first of the two beginnings empty; a write makes it the newer one. */
async function joinBeginnings(options: EnvironmentOptions): Promise<void> {
  const { root } = openEnvironment(options);
  const table = root.openDB({ ...BINARY, name: FORMAT });
  const key = Uint8Array.of(0);
  root.transactionSync(() => {
    table.put(key, key);
    table.remove(key);
  });
  await root.close();
}
