/**
 * A copy of the file of a store as it is at one moment. Another process may have the store open and
 * go on writing; pages that the copy needs are not reused until it is done.
 */
import { existsSync } from 'node:fs';
import { open } from 'lmdb';
import { makeFolder } from '../folders.ts';
import { dataFile, type EnvironmentOptions, readingOptions, typed } from './environment.ts';

/** Rejects with StoreCorruptError where LMDB finds damage; whoever opens the copy checks it in full. */
export async function copyStore(options: EnvironmentOptions, to: string): Promise<void> {
  const { folder } = options;
  if (!existsSync(dataFile(folder))) throw new Error(`there is no store in ${folder}`);
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
