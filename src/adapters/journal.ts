/**
 * An append-only log on disk with group commit (ports.ts, Journal), for what must survive a crash
 * before the next block: transactions acknowledged to clients.
 *
 * Frame: length u32, CRC-32 u32 over length and record, record. The length is covered too, so that
 * neither a torn write nor the zeros that a crash can leave behind pass for a record.
 *
 * Invariants: `append` resolves after the fdatasync that covers it; records appended while one runs
 * go out together with the next, in order; whole records are kept at open, a damaged one among them
 * is left out, and a torn end is cut off; `rewrite` replaces what was durable when it was called,
 * but carries over every append whose caller cannot have seen it resolve (so that a record may
 * stand twice), and a crash shows either the old file or the new one. What a failed write has left
 * is cut off, and the next write may succeed: a full disk may get space again. After a failed
 * fdatasync every call is refused, because what is on disk is unknown.
 */
import {
  closeSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  write,
} from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { JournalFullError } from '../base/journal-full.ts';
import type { Journal } from '../base/ports.ts';
import { makeFolder, syncFolder } from './folders.ts';

export interface JournalOptions {
  readonly path: string;
  /** Bytes that may wait for the disk; an append beyond that is refused. */
  readonly pendingBytesMax?: number;
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

export interface DiskJournal extends Journal {
  /** Records, among those before the last whole one, that were not what was written. */
  readonly damaged: number;
}

export function openJournal(options: JournalOptions): DiskJournal {
  const { path } = options;
  const pendingMax = options.pendingBytesMax ?? PENDING_BYTES_MAX;
  const temporary = `${path}.tmp`;
  makeFolder(dirname(path));
  rmSync(temporary, { force: true });
  let file = openSync(path, 'a+', 0o600);
  const { records: recovered, damaged } = recover(file);
  /** Length of the file up to the last record that was synced. */
  let durable = fstatSync(file).size;
  syncFolder(dirname(path));

  /** Collects while `flying` is on its way to the disk. */
  let group = new Group();
  /** Stays filled after it has landed until its callers have run, for a rewrite by one of them. */
  let flying = new Group();
  let flyingBytes = 0;
  let rewrites: Rewrite[] = [];
  let busy = false;
  /** Why no call is taken any more. */
  let ended: Error | undefined;
  let closed = false;
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
    damaged,
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
      if (closed) return;
      closed = true;
      ended = new Error('the journal is closed');
      if (busy) {
        await new Promise<void>((resolve) => {
          whenIdle = resolve;
        });
      }
      closeSync(file);
    },
  };
}

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

/**
 * The whole records; cuts off what a crash has left at the end. A frame in which a bit was flipped
 * is told from such a rest by the good one that follows: where the bit is in the length, another
 * length gives a good frame.
 */
function recover(file: number): { records: Uint8Array[]; damaged: number } {
  const bytes = readFileSync(file);
  const records: Uint8Array[] = [];
  let damaged = 0;
  let at = 0;
  while (bytes.length - at >= FRAME_BYTES) {
    const stored = bytes.readUInt32BE(at);
    const length = isGood(bytes, at, stored) ? stored : rightLength(bytes, at, stored);
    if (length !== stored) damaged++;
    if (length !== undefined) {
      const end = at + FRAME_BYTES + length;
      records.push(new Uint8Array(bytes.subarray(at + FRAME_BYTES, end)));
      at = end;
    } else if (isFollowed(bytes, at + FRAME_BYTES + stored)) {
      at += FRAME_BYTES + stored;
    } else {
      damaged--;
      break;
    }
  }
  if (at < bytes.length) {
    ftruncateSync(file, at);
    fsyncSync(file);
  }
  return { records, damaged };
}

/** Whether the frame at this place, with this length in it, has its checksum. */
function isGood(bytes: Buffer, at: number, length: number): boolean {
  if (at + FRAME_BYTES + length > bytes.length) return false;
  const header = Buffer.alloc(4);
  header.writeUInt32BE(length);
  const record = bytes.subarray(at + FRAME_BYTES, at + FRAME_BYTES + length);
  return bytes.readUInt32BE(at + 4) === crc32(record, crc32(header));
}

/** The length of which one bit was flipped, if that makes a good frame. */
function rightLength(bytes: Buffer, at: number, stored: number): number | undefined {
  for (let bit = 0; bit < 32; bit++) {
    const length = (stored ^ (1 << bit)) >>> 0;
    if (isGood(bytes, at, length)) return length;
  }
  return undefined;
}

const isFollowed = (bytes: Buffer, at: number): boolean =>
  bytes.length - at >= FRAME_BYTES && isGood(bytes, at, bytes.readUInt32BE(at));

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
