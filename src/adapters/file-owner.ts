/**
 * Owner and mode of a file that takes the place of another, and owner of a new one. Root may work on
 * the files of the user that runs the node, and that user must be able to go on with all of them: what
 * root makes in a folder of another user belongs to that user.
 */
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
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
function changedOwner(file: number, { uid, gid }: Owner): boolean {
  try {
    fchownSync(file, uid, gid);
    return true;
  } catch {
    return false;
  }
}

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The owner of the folder, where this process is root and the folder is not. */
function ownerOver(path: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const folder = statSync(dirname(path));
  return folder.uid === 0 ? undefined : folder;
}

/** An open file or folder at this path: root leaves what is its own to the owner of the folder. */
export function leaveOpen(file: number, path: string): void {
  const owner = ownerOver(path);
  if (owner === undefined) return;
  const found = fstatSync(file);
  // A second name could be that of a file elsewhere, which the owner of the folder must not get.
  const isOnlyHere = found.isDirectory() || (found.isFile() && found.nlink === 1);
  if (found.uid === 0 && isOnlyHere && isThere(found, path)) changedOwner(file, owner);
}

/** False where the path is a link, or has another file by now. */
function isThere({ ino, dev }: Stats, path: string): boolean {
  const there = lstatSync(path, { throwIfNoEntry: false });
  return there?.ino === ino && there.dev === dev;
}

/** The same of a file or folder that is not open, where it is there. */
export function leave(path: string): void {
  const owner = ownerOver(path);
  if (owner === undefined) return;
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return;
  }
  try {
    leaveOpen(file, path);
  } finally {
    closeSync(file);
  }
}

/** The mode that other makers of files use; the mask of the process narrows it. */
const GROUP_WRITES = 0o664;

/** Makes an empty file that others would make as root; nothing where they would make it as the owner. */
export function makeForOwner(path: string): void {
  if (ownerOver(path) === undefined) return;
  if (!existsSync(path)) closeSync(openSync(path, 'wx', GROUP_WRITES));
  leave(path);
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
