/**
 * Copies of damaged files, kept beside them for whoever wants to know what has happened:
 * `<path>.damaged-1` and so on, the newest few.
 */
import { copyFileSync, linkSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from './folders.ts';

export const COPIES_MAX = 3;

/** The name of the copy. It is the same file under a second name where the system has such. */
export function keepDamaged(path: string): string {
  const folder = dirname(path);
  const prefix = `${basename(path)}.damaged-`;
  const numbers = readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && /^\d{1,9}$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b);
  const kept = join(folder, `${prefix}${(numbers.at(-1) ?? 0) + 1}`);
  try {
    linkSync(path, kept);
  } catch {
    copy(path, kept);
  }
  for (const number of numbers.slice(0, -(COPIES_MAX - 1))) {
    rmSync(join(folder, `${prefix}${number}`), { force: true });
  }
  syncFolder(folder);
  return kept;
}

/** Some file systems have no second names. */
function copy(path: string, to: string): void {
  try {
    copyFileSync(path, to);
  } catch (cause) {
    rmSync(to, { force: true });
    throw cause;
  }
}
