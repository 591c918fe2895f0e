/**
 * A damaged file of a store, set aside so that a new store can be filled from its readable part
 * (chain/store/rebuild.ts). It keeps its name until the new store is complete, however often the process
 * ends.
 */
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ANY, leave, statIfAny, takeAfter } from '../file-owner.ts';
import { syncFolder } from '../folders.ts';
import { type NamedTable, openRemains, type Remains } from './check.ts';
import { dataFile } from './environment.ts';

const DAMAGED = 'damaged.mdb';
const OWNER_ONLY = 0o600;
const REASON = 'damaged.txt';
/** A file that could not be read in full stays for the operator, until the next damage. */
const KEPT = 'damaged-kept.mdb';

/** False where `openLmdbStore` would begin with an empty store. */
export const hasStore = (folder: string): boolean =>
  (statIfAny(dataFile(folder))?.size ?? 0) > 0 || existsSync(join(folder, DAMAGED));

export interface Damaged extends Remains {
  readonly why: string;
  /**
   * The new store holds all readable blocks; returns the name of the kept file where it holds more.
   */
  done(isComplete: boolean): string | undefined;
}

/** The folder must be locked. */
export function setAside(folder: string, why: string): void {
  const path = join(folder, DAMAGED);
  // The damage is in a store that was still being filled; the file from which it is filled holds
  // more.
  if (existsSync(path)) {
    rmSync(dataFile(folder));
  } else {
    writeFileSync(join(folder, REASON), why);
    leave(join(folder, REASON));
    renameSync(dataFile(folder), path);
  }
  makeLike(path, dataFile(folder));
  syncFolder(folder);
}

/** The file of the new store, still empty: root leaves it to the owner of the old one. */
function makeLike(old: string, path: string): void {
  const file = openSync(path, 'wx', OWNER_ONLY);
  try {
    takeAfter(file, statSync(old), ANY);
  } finally {
    closeSync(file);
  }
}

export function damagedIn(folder: string, tables: readonly NamedTable[]): Damaged | undefined {
  const path = join(folder, DAMAGED);
  if (!existsSync(path)) return undefined;
  const reason = join(folder, REASON);
  const why = existsSync(reason) ? readFileSync(reason, 'utf8') : 'for an unknown reason';
  const remains = openRemains(path, tables);
  return {
    ...remains,
    why,
    done(isComplete) {
      remains.close();
      const kept = join(folder, KEPT);
      if (isComplete) rmSync(path);
      else renameSync(path, kept);
      rmSync(reason, { force: true });
      syncFolder(folder);
      return isComplete ? undefined : kept;
    },
  };
}
