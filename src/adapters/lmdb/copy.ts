/**
 * A copy of the file of a store as it is at one moment. Another process may have the store open and
 * go on writing; pages that the copy needs are not reused until it is done.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { makeFolder } from '../folders.ts';
import { dataFile, type EnvironmentOptions, readingOptions, typed } from './environment.ts';

/** Rejects with StoreCorruptError where LMDB finds damage; whoever opens the copy checks it in full. */
export async function copyStore(options: EnvironmentOptions, to: string): Promise<void> {
  const { folder } = options;
  if (!existsSync(dataFile(folder))) throw new Error(`there is no store in ${folder}`);
  requireReaderSlots(join(folder, 'lock.mdb'));
  makeFolder(to, 0o700);
  try {
    const root = open(folder, { ...readingOptions(options), readOnly: true });
    try {
      await root.backup(to, false);
    } finally {
      await root.close();
    }
  } catch (cause) {
    throw typed(folder, cause);
  }
}

/** Without a slot in this file LMDB reads all the same, and the writer reuses the pages that are read. */
function requireReaderSlots(path: string): void {
  if (!existsSync(path)) return;
  try {
    accessSync(path, constants.W_OK);
  } catch (cause) {
    throw new Error(`'${path}' is not writable: run this as the user of the node`, { cause });
  }
}
