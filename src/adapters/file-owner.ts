/**
 * Owner and mode of a file that takes the place of another. Root may work on the files of the user
 * that runs the node, and they must stay the files of that user.
 */
import {
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';

/** The mode of a file with secrets: the world gets nothing, whatever the old file allowed. */
export const NOT_THE_WORLD = 0o770;
export const ANY = 0o777;
const OWNER_ONLY = 0o700;

export const statIfAny = (path: string): Stats | undefined =>
  statSync(path, { throwIfNoEntry: false });

/**
 * Gives the open file owner, group and mode of the old one, as far as the system lets it. `allowed`:
 * the most that the mode may allow.
 */
export function takeAfter(file: number, old: Stats, allowed: number): void {
  const isKept = isOwnedAs(file, old) || changedOwner(file, old);
  // Another group must not get what the old one was allowed.
  const most = isKept || allowed === ANY ? allowed : OWNER_ONLY;
  fchmodSync(file, old.mode & most);
}

function isOwnedAs(file: number, { uid, gid }: Stats): boolean {
  const now = fstatSync(file);
  return now.uid === uid && now.gid === gid;
}

/** Only root may do it, and not everywhere: some file systems and containers know no other owner. */
function changedOwner(file: number, { uid, gid }: Stats): boolean {
  try {
    fchownSync(file, uid, gid);
    return true;
  } catch {
    return false;
  }
}

export type Owner = Pick<Stats, 'uid' | 'gid'>;

/** Of the folder itself, or of the next one above that is there. */
export function ownerAbove(folder: string): Owner {
  let path = resolve(folder);
  while (!existsSync(path)) path = dirname(path);
  return statSync(path);
}

/** The folder and those above it that are not there, the uppermost first. */
export function missingFolders(folder: string): string[] {
  const missing: string[] = [];
  for (let path = resolve(folder); !existsSync(path); path = dirname(path)) missing.unshift(path);
  return missing;
}

/** What root has made for the user that runs the node; others can give nothing away. */
export function giveTo({ uid, gid }: Owner, path: string): void {
  if (process.getuid?.() !== 0) return;
  try {
    lchownSync(path, uid, gid);
  } catch {
    // Some file systems and containers know no other owner.
  }
}
