/**
 * Writes rows to LMDB in a thread of its own, so that neither the tree nor the disk delays the
 * event loop.
 *
 * Invariants: one transaction runs at a time, in the order of the calls; a write that resolved is
 * on disk; a write that was rejected left nothing. If the thread dies, the number of the latest
 * transaction says which of the two happened, since no other process writes; the next write starts
 * another thread.
 */
import { StoreCorruptError } from '../../base/faults/store-damage.ts';
import type { StoreWrite } from '../../base/ports/store.ts';
import { type RowColumn, RowsAndColumns, rowCount } from '../../base/row-columns.ts';
import { Mutex } from '../../concurrency/mutex.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { systemClock } from '../system.ts';
import { extension } from '../threads/module-extension.ts';
import { type Environment, type EnvironmentOptions, typed } from './environment.ts';
import { BUFFER_BYTES, RowPacker } from './rows.ts';
import { WritingThread } from './writing-thread.ts';

export interface LmdbWriter {
  write(writes: Iterable<StoreWrite>): Promise<void>;
  /** Waits for the pending writes. */
  close(): Promise<void>;
}

/** The disk or the thread refused a write, and nothing of it was written. */
export class StoreWriteError extends Error {
  override name = 'StoreWriteError';

  constructor(folder: string, why: string) {
    super(`the store in ${folder} cannot be written: ${why}`);
  }
}

const WORKER = new URL(`./worker${extension}`, import.meta.url);

/** The rows of a column that are packed in one piece. */
const ROWS_AT_ONCE = 500;

/** `workerUrl`: another thread module, for tests. */
export function createLmdbWriter(
  options: EnvironmentOptions,
  environment: Environment,
  workerUrl: URL = WORKER,
): LmdbWriter {
  const { folder } = options;
  const spare = new RowBuffers();
  const packer = new RowPacker((bytes) => spare.take(bytes));
  const slice = new TimeSlice(systemClock());
  const transactions = new Mutex();
  let thread: WritingThread | undefined;

  async function pack(writes: Iterable<StoreWrite>): Promise<ArrayBuffer[]> {
    const [rows, columns] =
      writes instanceof RowsAndColumns ? [writes.rows, writes.columns] : [writes, []];
    try {
      for (const write of rows) {
        environment.tableOf(write.table);
        packer.add(write);
        if (slice.isOver()) await slice.yield();
      }
      for (const column of columns) await packColumn(column);
    } catch (error) {
      spare.giveBack(packer.take());
      throw error;
    }
    return packer.take();
  }

  async function packColumn(column: RowColumn): Promise<void> {
    environment.tableOf(column.table);
    const count = rowCount(column);
    for (let start = 0; start < count; start += ROWS_AT_ONCE) {
      packer.addRows(column, start, Math.min(count, start + ROWS_AT_ONCE));
      if (slice.isOver()) await slice.yield();
    }
  }

  async function writeNow(writes: Iterable<StoreWrite>): Promise<void> {
    const buffers = await pack(writes);
    if (buffers.length === 0) return;
    const before = environment.lastTransaction();
    thread ??= new WritingThread(options, workerUrl, () => {
      thread = undefined;
    });
    const answer = await thread.write(buffers).catch((cause: Error) => {
      // The thread may have died after the transaction.
      if (environment.lastTransaction() !== before) return undefined;
      throw new StoreWriteError(folder, cause.message);
    });
    if (answer === undefined) return;
    spare.giveBack(answer.buffers);
    if (answer.problem !== undefined && environment.lastTransaction() === before) {
      throw refusal(answer.problem);
    }
  }

  function refusal(problem: string): Error {
    const error = typed(folder, new Error(problem));
    return error instanceof StoreCorruptError ? error : new StoreWriteError(folder, problem);
  }

  return {
    write: (writes) => transactions.run(() => writeNow(writes)),
    async close() {
      await transactions.idle();
      await thread?.end();
    },
  };
}

/** Buffers kept for the next write. */
const SPARE_MAX = 4;

/** On their way to the writing thread and back; those of the usual size are used again. */
class RowBuffers {
  private readonly spare: ArrayBuffer[] = [];

  /** A buffer of at least this size, with any content. */
  take(bytes: number): ArrayBuffer {
    const used = bytes <= BUFFER_BYTES ? this.spare.pop() : undefined;
    return used ?? new ArrayBuffer(Math.max(bytes, BUFFER_BYTES));
  }

  giveBack(buffers: readonly ArrayBuffer[]): void {
    for (const buffer of buffers) {
      const fits = buffer.byteLength === BUFFER_BYTES;
      if (fits && this.spare.length < SPARE_MAX) this.spare.push(buffer);
    }
  }
}
