/**
 * Folders that survive a loss of power. A name is on disk only after its folder has been
 * synchronised, and the same holds for every folder above.
 */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { leave, missingFolders, statIfAny } from './file-owner.ts';

/**
 * Makes a folder and the missing folders above it. Root leaves them to the owner of the one that was
 * there.
 */
export function makeFolder(path: string, mode?: number): void {
  const missing = missingFolders(path);
  // A file in its place is refused.
  if (missing.length === 0) mkdirSync(path, { recursive: true });
  for (const folder of missing) {
    makeOne(folder, mode);
    leave(folder);
  }
  for (const made of missing.toReversed()) syncFolder(dirname(made));
}

/**
 * Another process may have made it meanwhile. The recursive form of Node runs for ever, deaf to signals,
 * below a folder that is there and takes no new one, such as /proc or a folder of an automounter.
 */
function makeOne(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, mode);
  } catch (cause) {
    if (statIfAny(path)?.isDirectory() !== true) throw cause;
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
