/**
 * An append-only log on disk with group commit (ports.ts, Journal), for what must survive a crash
 * before the next block: transactions acknowledged to clients.
 *
 * Frame: length u32, CRC-32 u32 over length and record, record. The length is covered too, so that
 * neither a torn write nor the zeros that a crash can leave behind pass for a record.
 *
 * Invariants: `append` resolves after the fdatasync that covers it; records appended while one runs
 * go out together with the next, in order; what stands before the first bad frame at open is kept,
 * the rest is cut off; `rewrite` replaces what was durable when it was called, but carries over every
 * append whose caller cannot have seen it resolve (so that a record may stand twice), and a crash
 * shows either the old file or the new one. What a failed write has left is cut off, and the next
 * one may succeed: a full disk is not full for ever. After a failed fdatasync every call is refused,
 * because nobody knows what is on disk.
 */
import {
  closeSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  write,
} from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Journal } from '../base/ports.ts';

export interface JournalOptions {
  readonly path: string;
  /** Bytes that may wait for the disk; an append beyond that is refused. */
  readonly pendingBytesMax?: number;
}

/** More is waiting for the disk than may: the caller answers that the node is overloaded. */
export class JournalFullError extends Error {
  override name = 'JournalFullError';
}

export const PENDING_BYTES_MAX = 16 * 1024 * 1024;
const FRAME_BYTES = 8;
/** A group's buffer is kept for the next one up to this size. */
const KEPT_BYTES = 1024 * 1024;

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Rewrite extends Waiter {
  /** The whole new file. */
  readonly bytes: Uint8Array;
}

export function openJournal(options: JournalOptions): Journal {
  const { path } = options;
  const pendingMax = options.pendingBytesMax ?? PENDING_BYTES_MAX;
  const temporary = `${path}.tmp`;
  mkdirSync(dirname(path), { recursive: true });
  rmSync(temporary, { force: true });
  let file = openSync(path, 'a+', 0o600);
  const recovered = recover(file);
  /** Length of the file up to the last record that was synced. */
  let durable = fstatSync(file).size;
  syncFolder(path);

  /** Collects while `flying` is on its way to the disk. */
  let group = new Group();
  /** Stays filled after it has landed until its callers have run, for a rewrite by one of them. */
  let flying = new Group();
  let flyingBytes = 0;
  let rewrites: Rewrite[] = [];
  let busy = false;
  /** Why no call is taken any more. */
  let ended: Error | undefined;
  let whenIdle: () => void = () => {};

  /** One turn of the event loop is collected before the first write, then one fdatasync. */
  function wake(): void {
    if (busy) return;
    busy = true;
    setImmediate(next);
  }

  // Rewrites go first: what is in `group` then follows them into the new file.
  function next(): void {
    flying.clear();
    if (rewrites.length > 0) {
      void replace();
    } else if (group.length > 0) {
      [group, flying] = [flying, group];
      flyingBytes = flying.length;
      writeAll(file, flying.bytes(), (error) => {
        if (error !== null) notWritten(error);
        else fdatasync(file, landed);
      });
    } else {
      busy = false;
      whenIdle();
    }
  }

  function notWritten(cause: Error): void {
    const waiters = flying.takeWaiters();
    flyingBytes = 0;
    try {
      ftruncateSync(file, durable);
    } catch {
      fail(cause, waiters);
      return;
    }
    const refusal = new Error(`the journal ${path} cannot be written`, { cause });
    for (const { reject } of waiters) reject(refusal);
    setImmediate(next);
  }

  function landed(error: Error | null): void {
    const waiters = flying.takeWaiters();
    if (error === null) durable += flyingBytes;
    flyingBytes = 0;
    if (error !== null) {
      fail(error, waiters);
    } else {
      for (const { resolve } of waiters) resolve();
      // Not at once: those who were waiting may have their next record ready.
      setImmediate(next);
    }
  }

  function fail(cause: unknown, waiters: readonly Waiter[]): void {
    ended = new Error(`the journal ${path} is out of use`, { cause });
    for (const { reject } of [...waiters, ...group.takeWaiters(), ...rewrites]) reject(ended);
    rewrites = [];
    group.clear();
    next();
  }

  async function replace(): Promise<void> {
    // Of several rewrites only the last could ever be seen.
    const waiters = rewrites;
    rewrites = [];
    let fresh: number | undefined;
    try {
      fresh = openSync(temporary, 'ax+', 0o600);
      await writeSynced(fresh, waiters.at(-1)!.bytes);
    } catch (error) {
      // The old file is untouched and goes on.
      if (fresh !== undefined) {
        closeSync(fresh);
        rmSync(temporary, { force: true });
      }
      for (const { reject } of waiters) reject(error);
      next();
      return;
    }
    const old = file;
    file = fresh;
    durable = waiters.at(-1)!.bytes.length;
    try {
      await rename(temporary, path);
      const folder = await open(dirname(path));
      await folder.sync();
      await folder.close();
      for (const { resolve } of waiters) resolve();
      setImmediate(next);
    } catch (error) {
      fail(error, waiters);
    } finally {
      closeSync(old);
    }
  }

  return {
    recovered,
    append: (record) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        const pending = group.length + flyingBytes + FRAME_BYTES + record.length;
        if (pending > pendingMax) {
          return reject(new JournalFullError(`${pending} bytes wait for the disk`));
        }
        group.add(record, { resolve, reject });
        wake();
      }),
    rewrite: (records) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        const all = new Group();
        for (const record of records) all.add(record);
        all.addFrames(flying.bytes());
        rewrites.push({ resolve, reject, bytes: all.bytes() });
        wake();
      }),
    close: async () => {
      if (ended?.message === CLOSED) return;
      ended = new Error(CLOSED);
      if (busy) {
        await new Promise<void>((resolve) => {
          whenIdle = resolve;
        });
      }
      closeSync(file);
    },
  };
}

const CLOSED = 'the journal is closed';

/** Frames that go to the disk with one write, and who waits for them. */
class Group {
  private buffer = Buffer.allocUnsafeSlow(4096);
  private waiters: Waiter[] = [];
  length = 0;

  add(record: Uint8Array, waiter?: Waiter): void {
    const { length } = record;
    const at = this.room(FRAME_BYTES + length);
    this.buffer.writeUInt32BE(length, at);
    this.buffer.set(record, at + FRAME_BYTES);
    this.buffer.writeUInt32BE(checksum(this.buffer, at, length), at + 4);
    if (waiter !== undefined) this.waiters.push(waiter);
  }

  addFrames(frames: Uint8Array): void {
    // Making room may replace the buffer, so it comes first.
    const at = this.room(frames.length);
    this.buffer.set(frames, at);
  }

  /** A view, valid until the next change. */
  bytes(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  takeWaiters(): Waiter[] {
    const { waiters } = this;
    this.waiters = [];
    return waiters;
  }

  clear(): void {
    this.length = 0;
    if (this.buffer.length > KEPT_BYTES) this.buffer = Buffer.allocUnsafeSlow(KEPT_BYTES);
  }

  private room(count: number): number {
    const at = this.length;
    const end = at + count;
    if (end > this.buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.buffer.length));
      grown.set(this.buffer.subarray(0, at));
      this.buffer = grown;
    }
    this.length = end;
    return at;
  }
}

const checksum = (bytes: Buffer, at: number, length: number): number =>
  crc32(
    bytes.subarray(at + FRAME_BYTES, at + FRAME_BYTES + length),
    crc32(bytes.subarray(at, at + 4)),
  );

/** The whole records at the beginning of the file; cuts off the rest. */
function recover(file: number): Uint8Array[] {
  const bytes = readFileSync(file);
  const records: Uint8Array[] = [];
  let at = 0;
  while (bytes.length - at >= FRAME_BYTES) {
    const length = bytes.readUInt32BE(at);
    const end = at + FRAME_BYTES + length;
    if (end > bytes.length || bytes.readUInt32BE(at + 4) !== checksum(bytes, at, length)) break;
    records.push(new Uint8Array(bytes.subarray(at + FRAME_BYTES, end)));
    at = end;
  }
  if (at < bytes.length) {
    ftruncateSync(file, at);
    fsyncSync(file);
  }
  return records;
}

function syncFolder(path: string): void {
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

/** Writes all bytes at the end of the file, however many calls that takes. */
function writeAll(file: number, bytes: Uint8Array, done: (error: Error | null) => void): void {
  write(file, bytes, 0, bytes.length, null, (error, written) => {
    if (error !== null) done(error);
    else if (written < bytes.length) writeAll(file, bytes.subarray(written), done);
    else done(null);
  });
}

const writeSynced = (file: number, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    writeAll(file, bytes, (error) => {
      if (error !== null) return reject(error);
      fdatasync(file, (problem) => (problem === null ? resolve() : reject(problem)));
    });
  });
