/**
 * The store on disk: one LMDB environment, one sub-database for each table.
 *
 * Invariants: the file is checked in full (check.ts) before it is opened, or in the background where
 * a mark vouches for it (check-mark.ts); the checksum of a row is checked whenever it is read; a
 * write that resolved has been synchronised to disk, and a crash leaves the state before or after a
 * whole write; all reads use one read transaction, which is renewed only when a write has been
 * acknowledged, so the view does not change between two writes; results are copies, since the
 * binding's fast getter reuses its buffer; the process holds the folder's lock for as long as the
 * store is open.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Transaction } from 'lmdb';
import { StoreCorruptError } from '../../base/faults/store-damage.ts';
import type { Store, StoreView, StoreWrite } from '../../base/ports/store.ts';
import { makeForOwner } from '../file-owner.ts';
import { type FolderLock, lockFolder } from '../folder-lock.ts';
import { syncFolder } from '../folders.ts';
import { checkBeginning, checkFile, extendFile, type FileState } from './check.ts';
import { type CheckMark, takeMark } from './check-mark.ts';
import { endCompaction } from './compact.ts';
import {
  dataFile,
  type Environment,
  type EnvironmentOptions,
  openEnvironment,
  typed,
  type Within,
} from './environment.ts';
import { claimSlots, LOCK_FILE, requireNoReadingTwin } from './reader-slots.ts';
import { type Damaged, damagedIn, setAside } from './remains.ts';
import { rowReader } from './row-reader.ts';
import { type Scrub, startScrub } from './scrub.ts';
import { createLmdbWriter, type LmdbWriter, StoreWriteError } from './writer.ts';

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

/** A read transaction that counts its users; the types leave the counting out. */
type Shared = Transaction & { use(): void };

/**
 * Its public functions are properties, so that a store with another part can be made of it by a
 * spread.
 */
export class LmdbStore implements Store {
  /** The damaged file that this store is to replace; undefined where there is none. */
  readonly damaged: Damaged | undefined;
  readonly get: Store['get'];
  readonly range: Store['range'];
  private readonly options: LmdbOptions;
  private readonly opened: Opened;
  private readonly writer: LmdbWriter;
  private scrub: Scrub | undefined;
  private present: Shared;
  private reads: Within;
  private closed = false;
  private damage: string | undefined;
  private unwritten: string | undefined;

  constructor(options: LmdbOptions, opened: Opened) {
    this.options = options;
    this.opened = opened;
    this.damaged = opened.damaged;
    // The writing thread gets a copy of these, which a function or a URL does not survive.
    const { workerUrl, onDamage: _, ...plain } = options;
    this.writer = createLmdbWriter(plain, opened.environment, workerUrl);
    this.present = opened.environment.root.useReadTransaction() as Shared;
    this.reads = { transaction: this.present };
    const { get, range } = this.reader(() => this.within());
    this.get = get;
    this.range = range;
  }

  start(): void {
    const { scrubAfterMs: afterMs, ...options } = this.options;
    if (afterMs === undefined) return;
    this.scrub = startScrub({
      ...options,
      afterMs,
      pin: () => this.pin(),
      sound: this.opened.mark.checked,
      damaged: (found) => void this.noted(found),
    });
  }

  readonly write = async (writes: Iterable<StoreWrite>, landed?: () => void): Promise<void> => {
    if (this.closed) throw new Error('the store is closed');
    try {
      await this.writer.write(writes);
    } catch (error) {
      if (error instanceof StoreWriteError) this.unwritten = error.message;
      this.opened.mark.distrust();
      throw this.noted(error);
    }
    this.unwritten = undefined;
    this.renew();
    landed?.();
  };

  readonly problem = (): string | undefined => this.damage ?? this.unwritten;

  readonly snapshot = (): ReturnType<Store['snapshot']> => {
    const frozen = this.within();
    const unpin = this.pin();
    let released = false;
    const reader = this.reader(() => {
      if (released) throw new Error('the snapshot is released');
      return frozen;
    });
    const release = (): void => {
      if (released) return;
      released = true;
      unpin();
    };
    return { ...reader, release };
  };

  readonly size = (): number => {
    const file = dataFile(this.options.folder);
    return existsSync(file) ? statSync(file).size : 0;
  };

  readonly close = async (): Promise<void> => {
    if (this.closed) return;
    this.closed = true;
    const { environment, mark, lock, unclaim } = this.opened;
    await this.scrub?.stop();
    await this.writer.close();
    this.damaged?.close();
    this.present.done();
    await environment.root.close();
    unclaim();
    mark.closed();
    lock.release();
  };

  private within(): Within {
    if (this.closed) throw new Error('the store is closed');
    return this.reads;
  }

  private reader(within: () => Within): StoreView {
    const { environment } = this.opened;
    return rowReader(environment, this.options.folder, within, (error) => this.noted(error));
  }

  /** Reports damage and passes the error on. */
  private noted(error: unknown): unknown {
    const known = typed(this.options.folder, error);
    if (known instanceof StoreCorruptError && this.damage === undefined) {
      this.damage = known.message;
      this.opened.mark.distrust();
      this.options.onDamage?.(known);
    }
    return known;
  }

  /** From here on reads see the written rows. */
  private renew(): void {
    const { root } = this.opened.environment;
    const before = this.present;
    root.resetReadTxn();
    this.present = root.useReadTransaction() as Shared;
    this.reads = { transaction: this.present };
    before.done();
  }

  private pin(): () => void {
    const pinned = this.present;
    pinned.use();
    return () => pinned.done();
  }
}

export async function openLmdbStore(options: LmdbOptions): Promise<LmdbStore> {
  const store = new LmdbStore(options, await openFolder(options));
  store.start();
  return store;
}

interface Opened {
  readonly lock: FolderLock;
  readonly environment: Environment;
  readonly mark: CheckMark;
  readonly damaged: Damaged | undefined;
  readonly unclaim: () => void;
}

/** Checks the file and opens it, or opens an empty one in place of a damaged one. */
async function openFolder(options: LmdbOptions): Promise<Opened> {
  const { folder, tables, replaceDamaged = false } = options;
  const lock = await lockFolder(folder);
  try {
    endCompaction(folder);
    const mark = takeMark(folder);
    const state = await stateOf(dataFile(folder), tables, mark);
    if (state.kind === 'intact' && !mark.isTrusted) mark.checked();
    if (state.kind === 'damaged' || state.kind === 'old') {
      const why = state.kind === 'old' ? 'its rows have no checksums' : state.why;
      if (!replaceDamaged) throw new StoreCorruptError(folder, why);
      setAside(folder, why);
    }
    const damaged = damagedIn(folder, tables);
    makeReady(folder);
    const environment = openEnvironment(options);
    try {
      requireNoReadingTwin(folder, environment.root);
      // LMDB synchronises its file; the folder must be synchronised too, so that the file's name is
      // durable.
      syncFolder(folder);
      return { lock, environment, mark, damaged, unclaim: claimSlots(folder) };
    } catch (cause) {
      await environment.root.close();
      throw cause;
    }
  } catch (error) {
    lock.release();
    throw typed(folder, error);
  }
}

/**
 * LMDB would make its files for root, and its binding ends the process where it may not write to one.
 * Once LMDB is open, closing another descriptor of its file would end its locks.
 */
function makeReady(folder: string): void {
  for (const path of [dataFile(folder), join(folder, LOCK_FILE)]) {
    makeForOwner(path);
    if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
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
