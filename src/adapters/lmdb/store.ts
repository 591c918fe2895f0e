/**
 * The store on disk: one LMDB environment, one sub-database for each table.
 *
 * Invariants: the file is checked in full before it is opened (check.ts), and the checksum of a row
 * whenever it is read; a write that resolved has been synchronised to disk, and a crash leaves the
 * state before or after a whole write; all reads use one read transaction, which is renewed only
 * when a write has been acknowledged, so the view does not change between two writes; results are
 * copies, since the binding's fast getter reuses its buffer; the process holds the folder's lock
 * for as long as the store is open.
 */
import { existsSync, statSync } from 'node:fs';
import type { Transaction } from 'lmdb';
import type { Store, StoreView } from '../../base/ports.ts';
import { StoreCorruptError } from '../../base/store-damage.ts';
import { lockFolder } from '../folder-lock.ts';
import { syncFolder } from '../folders.ts';
import { checkFile } from './check.ts';
import {
  dataFile,
  type Environment,
  type EnvironmentOptions,
  openEnvironment,
  typed,
  type Within,
} from './environment.ts';
import { type Damaged, damagedIn, setAside } from './remains.ts';
import { unseal } from './sums.ts';
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
  const { workerUrl, replaceDamaged, onDamage, ...options } = asked;
  const { folder, tables } = options;
  const lock = await lockFolder(folder);
  const file = dataFile(folder);
  let environment: Environment;
  let damaged: Damaged | undefined;
  try {
    const state = await checkFile(file, tables);
    if (state.kind === 'damaged' || state.kind === 'old') {
      const why = state.kind === 'old' ? 'its rows have no checksums' : state.why;
      if (replaceDamaged !== true) throw new StoreCorruptError(folder, why);
      setAside(folder, why);
    }
    damaged = damagedIn(folder, tables);
    environment = openEnvironment(options);
    // LMDB synchronises its file; the folder must be synchronised too, so that the file's name is
    // durable.
    syncFolder(folder);
  } catch (error) {
    lock.release();
    throw typed(folder, error);
  }
  const { root } = environment;
  const writer = createLmdbWriter(options, environment, workerUrl);
  let present = root.useReadTransaction() as Shared;
  let closed = false;
  let damage: string | undefined;
  let unwritten: string | undefined;

  /** Reports damage and passes the error on. */
  function noted(error: unknown): unknown {
    const known = typed(folder, error);
    if (known instanceof StoreCorruptError && damage === undefined) {
      damage = known.message;
      onDamage?.(known);
    }
    return known;
  }

  /** From here on reads see the written rows. */
  function renew(): void {
    const before = present;
    root.resetReadTxn();
    present = root.useReadTransaction() as Shared;
    before.done();
  }

  const within = (): Within => {
    if (closed) throw new Error('the store is closed');
    return { transaction: present };
  };

  return {
    ...reader(environment, folder, within, noted),
    damaged,
    write: async (writes, landed) => {
      if (closed) throw new Error('the store is closed');
      try {
        await writer.write(writes);
      } catch (error) {
        if (error instanceof StoreWriteError) unwritten = error.message;
        throw noted(error);
      }
      unwritten = undefined;
      renew();
      landed?.();
    },
    problem: () => damage ?? unwritten,
    snapshot: () => {
      const frozen = within();
      present.use();
      let released = false;
      return {
        ...reader(
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
          frozen.transaction.done();
        },
      };
    },
    size: () => (existsSync(file) ? statSync(file).size : 0),
    close: async () => {
      if (closed) return;
      closed = true;
      await writer.close();
      damaged?.close();
      present.done();
      await root.close();
      lock.release();
    },
  };
}

function reader(
  { tableOf }: Environment,
  folder: string,
  within: () => Within,
  noted: (error: unknown) => unknown,
): StoreView {
  function rowValue(id: number, key: Uint8Array, sealed: Uint8Array): Uint8Array {
    // The binding overrides `length` of its shared buffer, so the view uses the buffer below it.
    const view = new Uint8Array(sealed.buffer, sealed.byteOffset, sealed.length);
    const value = unseal(id, key, view);
    if (value !== undefined) return new Uint8Array(value);
    throw new StoreCorruptError(folder, `a row of table ${id} is not what was written`);
  }
  return {
    get: (id, key) => {
      const options = within();
      try {
        const table = tableOf(id);
        const found = table.getBinaryFast(key, options);
        return found === undefined ? undefined : rowValue(id, key, found);
      } catch (error) {
        throw noted(error);
      }
    },
    *range(id, from, to, limit, reverse = false) {
      if (limit <= 0) return;
      const bounds = reverse
        ? { start: to, exclusiveStart: true, end: from, inclusiveEnd: true, reverse }
        : { start: from, end: to };
      try {
        const table = tableOf(id);
        for (const { key, value } of table.getRange({ ...bounds, ...within(), limit })) {
          yield [ownCopy(key), rowValue(id, key, value)];
        }
      } catch (error) {
        throw noted(error);
      }
    },
  };
}

// Returns no Buffer, because its `slice` would be a view.
function ownCopy(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.length);
  copy.set(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
  return copy;
}
