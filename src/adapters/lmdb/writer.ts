/**
 * Writes rows to LMDB in a thread of its own, so that neither the tree nor the disk holds up the
 * event loop.
 *
 * Invariants: one transaction at a time, in the order of asking; a write that resolved is on disk;
 * of one that was rejected nothing is. Where the thread died, the number of the latest transaction
 * tells which of the two it was, since no other process writes; the next write starts another thread.
 */
import { Worker } from 'node:worker_threads';
import type { StoreWrite } from '../../base/ports.ts';
import { StoreCorruptError } from '../../base/store-damage.ts';
import { createTurns } from '../../base/turns.ts';
import { type Environment, type EnvironmentOptions, typed } from './environment.ts';
import { BUFFER_BYTES, createRowPacker } from './rows.ts';
import {
  type StoreThreadAnswer,
  type StoreThreadData,
  type StoreThreadRequest,
  stopWriting,
} from './thread.ts';

export interface LmdbWriter {
  write(writes: Iterable<StoreWrite>): Promise<void>;
  /** Waits for the writes asked for. */
  close(): Promise<void>;
}

/** The disk or the thread refused a write, of which nothing is left. */
export class StoreWriteError extends Error {
  override name = 'StoreWriteError';

  constructor(folder: string, why: string) {
    super(`the store in ${folder} cannot be written: ${why}`);
  }
}

/** Runs from sources and from the published build alike. */
const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
const WORKER = new URL(`./worker${extension}`, import.meta.url);
/** Buffers kept for the next write. */
const SPARE_MAX = 4;
const YOUNG_MB = 4;

interface Thread {
  readonly worker: Worker;
  readonly ended: Promise<void>;
}

/** `workerUrl`: another thread than the real one, in tests. */
export function createLmdbWriter(
  options: EnvironmentOptions,
  environment: Environment,
  workerUrl: URL = WORKER,
): LmdbWriter {
  const { folder } = options;
  const spare: ArrayBuffer[] = [];
  const packer = createRowPacker((bytes) => {
    const used = bytes <= BUFFER_BYTES ? spare.pop() : undefined;
    return used ?? new ArrayBuffer(Math.max(bytes, BUFFER_BYTES));
  });
  const turns = createTurns({
    monotonic: () => performance.now(),
    turn: () => new Promise((resolve) => setImmediate(resolve)),
  });
  let last: Promise<void> = Promise.resolve();
  let thread: Thread | undefined;
  let waiting: PromiseWithResolvers<void> | undefined;

  async function pack(writes: Iterable<StoreWrite>): Promise<ArrayBuffer[]> {
    try {
      for (const write of writes) {
        environment.tableOf(write.table);
        packer.add(write);
        if (turns.due()) await turns.take();
      }
    } catch (error) {
      reuse(packer.take());
      throw error;
    }
    return packer.take();
  }

  function reuse(buffers: readonly ArrayBuffer[]): void {
    for (const buffer of buffers) {
      const fits = buffer.byteLength === BUFFER_BYTES;
      if (fits && spare.length < SPARE_MAX) spare.push(buffer);
    }
  }

  async function writeNow(writes: Iterable<StoreWrite>): Promise<void> {
    const buffers = await pack(writes);
    if (buffers.length === 0) return;
    const before = environment.lastTransaction();
    thread ??= start();
    const outcome = Promise.withResolvers<void>();
    waiting = outcome;
    const { worker } = thread;
    // Only a write in progress keeps the process alive.
    worker.ref();
    worker.postMessage(buffers satisfies StoreThreadRequest, buffers);
    try {
      await outcome.promise;
    } catch (error) {
      if (environment.lastTransaction() === before) throw error;
    } finally {
      waiting = undefined;
      worker.unref();
    }
  }

  function start(): Thread {
    const state = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    // Callers' tables have codecs too, which cannot be handed to a thread.
    const tables = options.tables.map(({ id, name }) => ({ id, name }));
    const workerData: StoreThreadData = { options: { ...options, tables }, state };
    const worker = new Worker(workerUrl, {
      name: 'store',
      workerData,
      // The thread has no use for the environment, which may hold passwords.
      env: {},
      execArgv: [],
      // Its garbage is short-lived. The heap has no limit of its own: a thread that ran into one
      // would end inside a transaction.
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const stop = (): void => stopWriting(state);
    const ended = Promise.withResolvers<void>();
    let cause: unknown = 'it ended';
    process.on('exit', stop);
    worker.unref();
    worker.on('message', ({ buffers, problem }: StoreThreadAnswer) => {
      reuse(buffers);
      if (problem === undefined) waiting?.resolve();
      else waiting?.reject(refusal(problem));
    });
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      process.off('exit', stop);
      thread = undefined;
      waiting?.reject(new StoreWriteError(folder, `the writing thread died: ${String(cause)}`));
      ended.resolve();
    });
    return { worker, ended: ended.promise };
  }

  function refusal(problem: string): Error {
    const error = typed(folder, new Error(problem));
    return error instanceof StoreCorruptError ? error : new StoreWriteError(folder, problem);
  }

  return {
    write(writes) {
      const written = last.then(() => writeNow(writes));
      last = written.catch(() => undefined);
      return written;
    },
    async close() {
      await last;
      if (thread === undefined) return;
      const { worker, ended } = thread;
      worker.ref();
      worker.postMessage(undefined);
      await ended;
    },
  };
}
