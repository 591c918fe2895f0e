/**
 * The file of the journal: a header, then frames.
 *
 * Invariants: bytes that `append` and `replace` report as done are on disk; the remains of an append
 * that found no room are cut off, what would exceed the size that a start can read is refused, and a
 * failed replacement leaves the old file in use, so that the
 * next call may succeed. Any other failure of an append, and one after which neither is possible,
 * is DiskUnknown. After a crash the file is either the old one or the new one.
 */
import { closeSync, fstatSync, ftruncateSync, rmSync, write, writeSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { JournalTooLongError } from '../base/faults/journal-full.ts';
import { keepDamaged } from './damaged-copies.ts';
import { Frames, piecesOf } from './journal-frames.ts';
import { headerOf } from './journal-header.ts';
import { type Findings, openFile, openFresh, temporaryOf } from './journal-opening.ts';

/** The content on disk is unknown, so the file is out of use. */
export class DiskUnknown extends Error {}

export class JournalFile {
  private readonly path: string;
  private readonly bytesMax: number;
  private file: number;
  /** Length of the file up to the last byte that was synced. */
  private durable: number;
  /** The file is damaged, and no copy of it could be kept. */
  private isUnkept: boolean;
  /** The last frame is a seal. */
  private isSealed: boolean;
  /** Of every frame that `append` and `replace` get. */
  readonly mark: Uint8Array;
  readonly records: readonly Uint8Array[];
  readonly findings: Findings;

  constructor(path: string, bytesMax: number) {
    this.path = path;
    this.bytesMax = bytesMax;
    const { file, mark, records, isSealed, findings } = openFile(path);
    this.file = file;
    this.mark = mark;
    this.records = records;
    this.findings = findings;
    this.isSealed = isSealed;
    this.isUnkept = findings.notReplaced !== undefined;
    this.durable = fstatSync(file).size;
  }

  /** One call at a time; the bytes may change once it is done. */
  append(bytes: Uint8Array, done: (error: Error | null) => void): void {
    if (this.durable + bytes.length > this.bytesMax) {
      setImmediate(done, this.tooLong());
      return;
    }
    writeAll(this.file, bytes, (cause) => {
      if (cause !== null) return done(lacksRoom(cause) ? this.cutOff(cause) : unknown(cause));
      this.durable += bytes.length;
      this.isSealed = false;
      done(null);
    });
  }

  /**
   * Replaces the file by one with these records and the frames behind them. Takes records as far as
   * a piece goes, and the next ones once the piece is on disk.
   */
  async replace(records: Iterable<Uint8Array>, frames: Uint8Array): Promise<void> {
    const fresh = await this.writeFresh(records, frames);
    const old = this.file;
    this.file = fresh;
    this.durable = fstatSync(fresh).size;
    this.isSealed = true;
    try {
      await rename(temporaryOf(this.path), this.path);
      const folder = await open(dirname(this.path));
      await folder.sync();
      await folder.close();
    } catch (error) {
      throw unknown(error);
    } finally {
      closeSync(old);
    }
  }

  /**
   * Seals the file, so that damage to the last records is not taken for the remains of a crash.
   * `isWhole`: the last write has succeeded.
   */
  close(isWhole: boolean): void {
    if (isWhole && !this.isSealed) this.seal();
    closeSync(this.file);
  }

  private seal(): void {
    const frames = new Frames(this.mark);
    frames.addSeal();
    try {
      writeSync(this.file, frames.bytes());
    } catch {
      // All records are there without a seal, too.
    }
  }

  private tooLong(): Error {
    return new JournalTooLongError(`the journal ${this.path} would exceed ${this.bytesMax} bytes`);
  }

  private cutOff(cause: Error): Error {
    try {
      ftruncateSync(this.file, this.durable);
    } catch {
      return unknown(cause);
    }
    return new Error(`the journal ${this.path} cannot be written`, { cause });
  }

  private async writeFresh(records: Iterable<Uint8Array>, frames: Uint8Array): Promise<number> {
    const fresh = openFresh(this.path);
    try {
      const header = headerOf(this.mark);
      await written(fresh, header);
      let length = header.length;
      for (const piece of piecesOf(this.mark, records, frames)) {
        length += piece.length;
        if (length > this.bytesMax) throw this.tooLong();
        await written(fresh, piece);
      }
      if (this.isUnkept) keepDamaged(this.path);
      this.isUnkept = false;
      return fresh;
    } catch (error) {
      closeSync(fresh);
      rmSync(temporaryOf(this.path), { force: true });
      throw error;
    }
  }
}

const unknown = (cause: unknown): DiskUnknown => new DiskUnknown('unknown', { cause });

/** Errors that come before anything is sent to the disk. All others may come from the disk itself. */
const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const lacksRoom = ({ code }: NodeJS.ErrnoException): boolean => NO_ROOM.has(code);

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
