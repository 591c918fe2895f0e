/**
 * Rows that wait for the disk. They are written together; what could not be written waits again, and
 * a newer value of the same row stays.
 */
import { isOurs } from '../../base/assert.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Store } from '../../base/ports/store.ts';

/** Undefined removes the row. */
type RowValue = Uint8Array | undefined;

export interface WaitingRowsPorts {
  /** Resolves when all of the rows are on the disk, and otherwise rejects. */
  readonly write: (rows: ReadonlyMap<string, RowValue>) => ReturnType<Store['write']>;
  readonly log: Log;
}

export interface WaitingRows {
  /** True where no more rows should be added. */
  isFull(): boolean;
  /** True where enough rows wait, and none are being written. */
  isDue(): boolean;
  set(row: string, value: RowValue): void;
  /** The value of a row that is not on the disk yet. */
  get(row: string): Uint8Array | undefined;
  /** Resolves when what waits now has been written, or has failed. */
  flush(): Promise<void>;
}

/** With so many rows the disk is not left waiting. */
const ROWS_AT_ONCE = 2_000;
const ROWS_MAX = 40_000;
const BYTES_MAX = 8 * 1024 * 1024;

export function createWaitingRows({ write, log }: WaitingRowsPorts): WaitingRows {
  let waiting = new Map<string, RowValue>();
  let bytes = 0;
  let underWay: ReadonlyMap<string, RowValue> = new Map();
  let writing: Promise<void> = Promise.resolve();

  async function writeAll(): Promise<void> {
    if (waiting.size === 0) return;
    const [these, theirBytes] = [waiting, bytes];
    underWay = these;
    waiting = new Map();
    bytes = 0;
    try {
      await write(these);
    } catch (cause) {
      if (isOurs(cause)) throw cause;
      log.error('contracts.statuses-failed', { why: String(cause) });
      waiting = new Map([...these, ...waiting]);
      bytes += theirBytes;
    } finally {
      underWay = new Map();
    }
  }

  return {
    isFull: () => waiting.size >= ROWS_MAX || bytes >= BYTES_MAX,
    isDue: () => waiting.size >= ROWS_AT_ONCE && underWay.size === 0,
    set(row, value) {
      bytes += (value?.length ?? 0) - (waiting.get(row)?.length ?? 0);
      waiting.set(row, value);
    },
    get: (row) => waiting.get(row) ?? underWay.get(row),
    flush() {
      writing = writing.then(writeAll);
      return writing;
    },
  };
}
