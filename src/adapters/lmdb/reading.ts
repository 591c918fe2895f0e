/**
 * A store as it is at one moment, to be read. Another process may have it open and go on writing; pages
 * of that moment are not used again before `close`.
 */
import { accessSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase, type Transaction } from 'lmdb';
import { StoreCorruptError } from '../../base/faults/store-damage.ts';
import type { StoreView } from '../../base/ports/store.ts';
import { ANY, takeAfter } from '../file-owner.ts';
import { isLocked } from '../folder-lock.ts';
import { checkBeginning, checkFile, type FileState, type FileUse, useOfFile } from './check.ts';
import {
  BINARY,
  dataFile,
  type EnvironmentOptions,
  readingOptions,
  type Table,
  typed,
} from './environment.ts';
import { claimSlots, LOCK_FILE, requireNoTwin } from './reader-slots.ts';
import { rowReader } from './row-reader.ts';

export interface Reading {
  readonly root: RootDatabase<Uint8Array, Uint8Array>;
  /** LMDB trusts the pages of the file, so it is checked first. */
  readonly view: StoreView;
  /** Rejects with StoreCorruptError. */
  use(): Promise<FileUse>;
  /** Reads all of the file; rejects with StoreCorruptError. Returns the number of its pages. */
  check(): Promise<number>;
  /** Lets the pages go at once, for the end of the process; nothing can be read afterwards. */
  abandon(): void;
  close(): Promise<void>;
}

/** A folder in that of the store, for as long as its file is being replaced (compact.ts). */
export const COMPACTING = 'compacting';

/** The file may be written while its beginning is read. */
const TRIES = 3;

/** Rejects where there is no store, and with StoreCorruptError where its beginning is damaged. */
export async function openReading(options: EnvironmentOptions): Promise<Reading> {
  const { folder, tables } = options;
  const path = dataFile(folder);
  await intact(folder, () => checkBeginning(path, tables));
  requireReaderSlots(folder);
  // A slot of a process that was killed is in nobody's way where no node has the store open.
  if (await isLocked(folder)) requireNoTwin(folder);
  const unclaim = claimSlots(folder);
  try {
    const root = open<Uint8Array, Uint8Array>(folder, {
      ...readingOptions(options),
      readOnly: true,
    });
    requireInPlace(folder);
    const view = viewIn(root, options);
    const pinned = root.useReadTransaction();
    return {
      root,
      view: view(pinned),
      use: () => intact(folder, () => useOfFile(path, tables)),
      check: async () => (await intact(folder, () => checkFile(path, tables))).pages,
      abandon() {
        pinned.done();
        root.resetReadTxn();
      },
      async close() {
        pinned.done();
        await root.close();
        unclaim();
      },
    };
  } catch (cause) {
    unclaim();
    throw typed(folder, cause);
  }
}

async function intact<T extends { readonly kind: 'intact' | 'used' }>(
  folder: string,
  check: () => Promise<T | Exclude<FileState, { kind: 'intact' }>>,
): Promise<T> {
  let why = '';
  for (let left = TRIES; left > 0; left--) {
    const state = await check();
    if (state.kind === 'new') throw new Error(`there is no store in ${folder}`);
    if (state.kind === 'old') throw new StoreCorruptError(folder, 'its rows have no checksums');
    if (state.kind !== 'damaged') return state as T;
    why = state.why;
  }
  throw new StoreCorruptError(folder, why);
}

/** Without a slot in this file LMDB reads all the same, and the writer reuses the pages that are read. */
function requireReaderSlots(folder: string): void {
  requireInPlace(folder);
  const path = join(folder, LOCK_FILE);
  try {
    if (!existsSync(path)) makeLockFile(path, dataFile(folder));
    accessSync(path, constants.W_OK);
  } catch (cause) {
    throw new Error(`'${path}' is not writable: run this as the user of the node`, { cause });
  }
}

/** Root leaves it to the owner of the store, whose node could not open it otherwise. */
function makeLockFile(path: string, data: string): void {
  try {
    const file = openSync(path, 'wx', OWNER_ONLY);
    try {
      takeAfter(file, statSync(data), ANY);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    // Another process was faster.
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  }
}

const OWNER_ONLY = 0o600;

/** The slots of another file would hold back nobody who writes to this one. */
function requireInPlace(folder: string): void {
  const path = join(folder, COMPACTING);
  if (!existsSync(path)) return;
  throw new Error(
    `the store in ${folder} is being compacted; where that was interrupted, start the node or repeat \`db compact\``,
  );
}

/** A table that the file does not have yet is empty. */
function viewIn(
  root: RootDatabase<Uint8Array, Uint8Array>,
  { folder, tables }: EnvironmentOptions,
): (transaction: Transaction) => StoreView {
  // All of them before the transaction, which opening another one ends.
  const known = new Map(
    tables.map(({ id, name }) => [id, root.openDB({ ...BINARY, name }) as Table | undefined]),
  );
  return (transaction) => {
    const environment = { tableOf: (id: number) => known.get(id)! };
    const reader = rowReader(
      environment,
      folder,
      () => ({ transaction }),
      (cause) => typed(folder, cause),
    );
    return {
      get: (id, key) => (known.get(id) === undefined ? undefined : reader.get(id, key)),
      range: (id, ...bounds) => (known.get(id) === undefined ? [] : reader.range(id, ...bounds)),
    };
  };
}
