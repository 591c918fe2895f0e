/**
 * A damaged file of a store, set aside so that a new one can be filled from what it still has
 * (chain/rebuild.ts). It stays under its name until that is done, however often the process ends.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from '../folders.ts';
import { type NamedTable, openRemains, type Remains } from './check.ts';
import { dataFile } from './environment.ts';

const DAMAGED = 'damaged.mdb';
const REASON = 'damaged.txt';
/** What could not be read in full stays for the operator, until the next time. */
const KEPT = 'damaged-kept.mdb';

export interface Damaged extends Remains {
  readonly why: string;
  /** The new store has all it can get; gives the name of the file where it had more than that. */
  done(isComplete: boolean): string | undefined;
}

/** The folder must be locked. */
export function setAside(folder: string, why: string): void {
  const path = join(folder, DAMAGED);
  // Damage in a store that was still being filled: the file it is filled from has more.
  if (existsSync(path)) {
    rmSync(dataFile(folder));
  } else {
    writeFileSync(join(folder, REASON), why);
    renameSync(dataFile(folder), path);
  }
  syncFolder(folder);
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
