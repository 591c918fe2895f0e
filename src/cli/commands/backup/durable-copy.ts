/** Copies of files of any size that survive a loss of power. */
import { closeSync, copyFileSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '../../../adapters/folders.ts';

/** Waits until the copy is on disk. */
export function copyDurably(from: string, to: string): void {
  copyFileSync(from, to);
  synced(to);
  syncFolder(dirname(to));
}

export function synced(path: string): void {
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}
