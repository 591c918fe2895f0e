/**
 * Folders that survive a loss of power. A name is on disk only after its folder has been
 * synchronised, and the same holds for every folder above.
 */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { leave, missingFolders } from './file-owner.ts';

/**
 * Makes a folder and the missing folders above it. Root leaves them to the owner of the one that was
 * there.
 */
export function makeFolder(path: string, mode?: number): void {
  const missing = missingFolders(path);
  const first = mkdirSync(path, { recursive: true, ...(mode === undefined ? {} : { mode }) });
  if (first === undefined) return;
  for (const made of missing) leave(made);
  const last = resolve(first);
  let made = resolve(path);
  syncFolder(dirname(made));
  while (made !== last) {
    made = dirname(made);
    syncFolder(dirname(made));
  }
}

/** Makes the names in a folder durable. Does nothing on Windows, which cannot open folders. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
