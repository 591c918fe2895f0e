/**
 * The store on disk: one LMDB environment, one sub-database for each table.
 *
 * Invariants: the file is checked in full (check.ts) before it is opened, or in the background where
 * a mark vouches for it (check-mark.ts); the checksum of a row is checked whenever it is read; a write that resolved has been synchronised to disk, and a crash leaves the
 * state before or after a whole write; all reads use one read transaction, which is renewed only
 * when a write has been acknowledged, so the view does not change between two writes; results are
 * copies, since the binding's fast getter reuses its buffer; the process holds the folder's lock
 * for as long as the store is open.
 */
import { existsSync, statSync } from 'node:fs';
import type { Transaction } from 'lmdb';
import type { Store } from '../../base/ports.ts';
import { StoreCorruptError } from '../../base/store-damage.ts';
import { type FolderLock, lockFolder } from '../folder-lock.ts';
import { syncFolder } from '../folders.ts';
import { checkBeginning, checkFile, extendFile, type FileState } from './check.ts';
import { type CheckMark, takeMark } from './check-mark.ts';
import {
  dataFile,
  type Environment,
  type EnvironmentOptions,
  openEnvironment,
  typed,
  type Within,
} from './environment.ts';
import { type Damaged, damagedIn, setAside } from './remains.ts';
import { rowReader } from './row-reader.ts';
import { startScrub } from './scrub.ts';
import { createLmdbWriter, StoreWriteError } from './writer.ts';

export { StoreCorruptError, StoreWriteError };

export interface LmdbOptions extends EnvironmentOptions {
  /** The module of the writing thread, where tests use another one. */
  readonly workerUrl?: URL;
  /**
   * True: a damaged file is set aside and an empty store is opened in its place, which the caller
   * fills from `damaged`. Otherwise a damaged file is refused.
   */
  readonly replaceDamaged?: boolean;
  /** The file is checked in the background, for the first time after so long; absent: never. */
  readonly scrubAfterMs?: number;
  /** Receives the first damage that is found while the store is open. */
  readonly onDamage?: (damage: StoreCorruptError) => void;
}

export interface LmdbStore extends Store {
  /** The damaged file that this store is to replace; undefined where there is none. */
  readonly damaged: Damaged | undefined;
}

/** A read transaction that counts its users; the types leave the counting out. */
type Shared = Transaction & { use(): void };

export async function openLmdbStore(asked: LmdbOptions): Promise<LmdbStore> {
  const { workerUrl, replaceDamaged = false, scrubAfterMs, onDamage, ...options } = asked;
  const { folder } = options;
  const { lock, environment, mark, damaged } = await openFolder(options, replaceDamaged);
  const { root } = environment;
  const writer = createLmdbWriter(options, environment, workerUrl);
  let present = root.useReadTransaction() as Shared;
  let reads: Within = { transaction: present };
  let closed = false;
  let damage: string | undefined;
  let unwritten: string | undefined;

  /** Reports damage and passes the error on. */
  function noted(error: unknown): unknown {
    const known = typed(folder, error);
    if (known instanceof StoreCorruptError && damage === undefined) {
      damage = known.message;
      mark.distrust();
      onDamage?.(known);
    }
    return known;
  }

  /** From here on reads see the written rows. */
  function renew(): void {
    const before = present;
    root.resetReadTxn();
    present = root.useReadTransaction() as Shared;
    reads = { transaction: present };
    before.done();
  }

  function pin(): () => void {
    const pinned = present;
    pinned.use();
    return () => pinned.done();
  }

  const scrub =
    scrubAfterMs === undefined
      ? undefined
      : startScrub({
          ...options,
          afterMs: scrubAfterMs,
          pin,
          sound: mark.checked,
          damaged: (found) => void noted(found),
        });

  const within = (): Within => {
    if (closed) throw new Error('the store is closed');
    return reads;
  };

  return {
    ...rowReader(environment, folder, within, noted),
    damaged,
    write: async (writes, landed) => {
      if (closed) throw new Error('the store is closed');
      try {
        await writer.write(writes);
      } catch (error) {
        if (error instanceof StoreWriteError) unwritten = error.message;
        mark.distrust();
        throw noted(error);
      }
      unwritten = undefined;
      renew();
      landed?.();
    },
    problem: () => damage ?? unwritten,
    snapshot: () => {
      const frozen = within();
      const release = pin();
      let released = false;
      return {
        ...rowReader(
          environment,
          folder,
          () => {
            if (released) throw new Error('the snapshot is released');
            return frozen;
          },
          noted,
        ),
        release: () => {
          if (released) return;
          released = true;
          release();
        },
      };
    },
    size: () => {
      const file = dataFile(folder);
      return existsSync(file) ? statSync(file).size : 0;
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await scrub?.stop();
      await writer.close();
      damaged?.close();
      present.done();
      await root.close();
      mark.closed();
      lock.release();
    },
  };
}

interface Opened {
  readonly lock: FolderLock;
  readonly environment: Environment;
  readonly mark: CheckMark;
  readonly damaged: Damaged | undefined;
}

/** Checks the file and opens it, or opens an empty one in place of a damaged one. */
async function openFolder(options: EnvironmentOptions, replaceDamaged: boolean): Promise<Opened> {
  const { folder, tables } = options;
  const lock = await lockFolder(folder);
  try {
    const mark = takeMark(folder);
    const state = await stateOf(dataFile(folder), tables, mark);
    if (state.kind === 'intact' && !mark.isTrusted) mark.checked();
    if (state.kind === 'damaged' || state.kind === 'old') {
      const why = state.kind === 'old' ? 'its rows have no checksums' : state.why;
      if (!replaceDamaged) throw new StoreCorruptError(folder, why);
      setAside(folder, why);
    }
    const damaged = damagedIn(folder, tables);
    const environment = openEnvironment(options);
    // LMDB synchronises its file; the folder must be synchronised too, so that the file's name is
    // durable.
    syncFolder(folder);
    return { lock, environment, mark, damaged };
  } catch (error) {
    lock.release();
    throw typed(folder, error);
  }
}

async function stateOf(
  path: string,
  tables: EnvironmentOptions['tables'],
  { isTrusted }: CheckMark,
): Promise<FileState> {
  if (isTrusted && (await checkBeginning(path, tables)).kind === 'intact') {
    return { kind: 'intact', pages: 0 };
  }
  const state = await checkFile(path, tables);
  if (state.kind === 'intact') extendFile(path);
  return state;
}
