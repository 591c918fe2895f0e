/**
 * The file of the journal.
 *
 * Invariants: bytes that `append` and `replace` report as done are on disk; the remains of an append
 * that found no room are cut off, and a failed replacement leaves the old file in use, so that the
 * next call may succeed. Any other failure of an append, and one after which neither is possible,
 * is DiskUnknown. After a crash the file is either the old one or the new one.
 */
import {
  closeSync,
  constants,
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
import { makeFolder, syncFolder } from './folders.ts';
import { type Recovered, recordsIn } from './journal-frames.ts';

/** The content on disk is unknown, so the file is out of use. */
export class DiskUnknown extends Error {}

const { O_APPEND, O_CREAT, O_DSYNC, O_EXCL, O_RDWR } = constants;
/**
 * A write returns once its bytes are on disk. A separate synchronisation would take a second call of
 * the thread pool for each group, and wake the main thread in between.
 */
const SYNCED_APPENDS = O_RDWR | O_CREAT | O_APPEND | O_DSYNC;

export class JournalFile {
  private readonly path: string;
  private readonly temporary: string;
  private file: number;
  /** Length of the file up to the last byte that was synced. */
  private durable: number;
  readonly recovered: Recovered;

  constructor(path: string) {
    this.path = path;
    this.temporary = `${path}.tmp`;
    makeFolder(dirname(path));
    rmSync(this.temporary, { force: true });
    this.file = openSync(path, SYNCED_APPENDS, 0o600);
    this.recovered = recover(this.file);
    this.durable = fstatSync(this.file).size;
    syncFolder(dirname(path));
  }

  /** One call at a time; the bytes may change once it is done. */
  append(bytes: Uint8Array, done: (error: Error | null) => void): void {
    writeAll(this.file, bytes, (cause) => {
      if (cause !== null) return done(lacksRoom(cause) ? this.cutOff(cause) : unknown(cause));
      this.durable += bytes.length;
      done(null);
    });
  }

  /** Replaces the file by a new one. Takes a piece once the one before it is on disk. */
  async replace(pieces: Iterable<Uint8Array>): Promise<void> {
    const fresh = await this.writeFresh(pieces);
    const old = this.file;
    this.file = fresh;
    this.durable = fstatSync(fresh).size;
    try {
      await rename(this.temporary, this.path);
      const folder = await open(dirname(this.path));
      await folder.sync();
      await folder.close();
    } catch (error) {
      throw unknown(error);
    } finally {
      closeSync(old);
    }
  }

  close(): void {
    closeSync(this.file);
  }

  private cutOff(cause: Error): Error {
    try {
      ftruncateSync(this.file, this.durable);
    } catch {
      return unknown(cause);
    }
    return new Error(`the journal ${this.path} cannot be written`, { cause });
  }

  private async writeFresh(pieces: Iterable<Uint8Array>): Promise<number> {
    const fresh = openSync(this.temporary, SYNCED_APPENDS | O_EXCL, 0o600);
    try {
      for (const piece of pieces) await written(fresh, piece);
      return fresh;
    } catch (error) {
      closeSync(fresh);
      rmSync(this.temporary, { force: true });
      throw error;
    }
  }
}

const unknown = (cause: unknown): DiskUnknown => new DiskUnknown('unknown', { cause });

/** Errors that come before anything is sent to the disk. All others may come from the disk itself. */
const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const lacksRoom = ({ code }: NodeJS.ErrnoException): boolean => NO_ROOM.has(code);

/** The records of the file; cuts off the remains of a crash. */
function recover(file: number): Recovered {
  const bytes = readFileSync(file);
  const recovered = recordsIn(bytes);
  if (recovered.end < bytes.length) {
    ftruncateSync(file, recovered.end);
    fsyncSync(file);
  }
  return recovered;
}

/** Writes all bytes at the end of the file, however many calls that takes. */
function writeAll(file: number, bytes: Uint8Array, done: (error: Error | null) => void): void {
  write(file, bytes, 0, bytes.length, null, (error, written) => {
    if (error !== null) done(error);
    else if (written < bytes.length) writeAll(file, bytes.subarray(written), done);
    else done(null);
  });
}

const written = (file: number, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    writeAll(file, bytes, (error) => (error === null ? resolve() : reject(error)));
  });
