/**
 * Folders that survive a loss of power. A name is on disk only when the folder that it stands in was
 * synchronised after it was made, and so for every folder above.
 */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes a folder and those above it that are missing. */
export function makeFolder(path: string, mode?: number): void {
  const first = mkdirSync(path, { recursive: true, ...(mode === undefined ? {} : { mode }) });
  if (first === undefined) return;
  const last = resolve(first);
  let made = resolve(path);
  syncFolder(dirname(made));
  while (made !== last) {
    made = dirname(made);
    syncFolder(dirname(made));
  }
}

/** Makes the names in a folder durable. Windows cannot open folders; there this does nothing. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
