/**
 * The store on disk: one LMDB environment, one sub-database for each table (architecture.md §5).
 *
 * Invariants: a write that resolved has been synchronised to disk, and a crash leaves the state
 * before or after a whole write; all reads go through one read transaction, which is renewed only
 * when a write has been acknowledged, so between two of them nothing moves; results are copies,
 * since the binding's fast getter reuses its buffer; the process holds the folder's lock for as long
 * as the store is open.
 */
import { existsSync, statSync } from 'node:fs';
import type { Transaction } from 'lmdb';
import type { Store, StoreView } from '../base/ports.ts';
import { lockFolder } from './folder-lock.ts';
import {
  checkFile,
  dataFile,
  type Environment,
  type EnvironmentOptions,
  openEnvironment,
  StoreCorruptError,
  syncFolder,
  typed,
  type Within,
} from './lmdb-environment.ts';
import { createLmdbWriter, StoreWriteError } from './lmdb-writer.ts';

export { StoreCorruptError, StoreWriteError };

export interface LmdbOptions extends EnvironmentOptions {
  /** Module of the writing thread, where tests want another one. */
  readonly workerUrl?: URL;
}

/** A read transaction that counts its users; the types leave that out. */
type Shared = Transaction & { use(): void };

export async function openLmdbStore({ workerUrl, ...options }: LmdbOptions): Promise<Store> {
  const { folder } = options;
  const lock = await lockFolder(folder);
  const file = dataFile(folder);
  let environment: Environment;
  try {
    checkFile(folder);
    environment = openEnvironment(options);
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

  /** Remembers what shall be reported. */
  function noted(error: unknown): unknown {
    const known = typed(folder, error);
    if (known instanceof StoreCorruptError) damage = known.message;
    return known;
  }

  /** From here on reads see what has been written. */
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
    ...reader(environment, within, noted),
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
      present.done();
      await root.close();
      lock.release();
    },
  };
}

function reader(
  { tableOf }: Environment,
  within: () => Within,
  noted: (error: unknown) => unknown,
): StoreView {
  return {
    get: (id, key) => {
      const options = within();
      try {
        const found = tableOf(id).getBinaryFast(key, options);
        return found === undefined ? undefined : ownCopy(found);
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
        const entries = tableOf(id).getRange({ ...bounds, ...within(), limit });
        for (const { key, value } of entries) yield [ownCopy(key), ownCopy(value)];
      } catch (error) {
        throw noted(error);
      }
    },
  };
}

// The binding overrides `length` of its shared buffer, so the copy goes by the buffer behind it;
// and the result is no Buffer, whose `slice` would be a view.
function ownCopy(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.length);
  copy.set(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
  return copy;
}
