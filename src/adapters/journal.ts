/**
 * An append-only log on disk with group commit (base/ports/journal.ts), for what must survive a crash
 * before the next block: transactions acknowledged to clients.
 *
 * Invariants: `append` resolves after the synchronised write that covers it; records appended while
 * one runs are written together by the next, in order; opening finds every record that is whole,
 * behind damage too, and cuts off an incomplete end; `rewrite` replaces the records that were durable
 * when it was called, but keeps every append whose caller cannot have seen it resolve (so that a
 * record may appear twice); after a crash the file is either the old one or the new one. The remains
 * of a failed write are cut off, and the next write may succeed, because a full disk may get space
 * again. After any other failure every call is refused, because the content on disk is unknown.
 */
import { JournalBrokenError } from '../base/faults/journal-broken.ts';
import { JournalFullError } from '../base/faults/journal-full.ts';
import type { Journal } from '../base/ports/journal.ts';
import { DiskUnknown, JournalFile } from './journal-file.ts';
import { FRAME_BYTES, Frames } from './journal-frames.ts';
import type { Findings } from './journal-opening.ts';

export interface JournalOptions {
  readonly path: string;
  /** Bytes that may wait for the disk; an append above this is refused, a needed one later. */
  readonly pendingBytesMax?: number;
  /** Bytes that the file may have; an append beyond this is refused. */
  readonly fileBytesMax?: number;
}

export const PENDING_BYTES_MAX = 16 * 1024 * 1024;
/** The part of these that needed records find beside them. */
const NEEDED_PART = 4;
/** Opening reads the file at once, and Node reads less than 2³¹ bytes so. */
const FILE_BYTES_MAX = 2_000_000_000;

type Landing = PromiseWithResolvers<void>;

/** Records that one write sends to the disk. All their callers wait for the same promise. */
interface Group {
  readonly frames: Frames;
  landing: Landing | undefined;
}

interface Rewrite extends Landing {
  readonly records: Iterable<Uint8Array>;
  /** The frames that follow the records. */
  readonly carried: Uint8Array;
}

/**
 * Its public functions are properties, so that a journal with another part can be made of it by a
 * spread.
 */
export class DiskJournal implements Journal {
  readonly recovered: readonly Uint8Array[];
  /** What opening found beside whole records. */
  readonly findings: Findings;
  readonly damagedPlaces: number;
  private readonly path: string;
  private readonly pendingMax: number;
  private readonly file: JournalFile;
  /** Collects records while `flying` is being written to disk. */
  private group: Group;
  /**
   * Stays filled after it has been written, until its callers have run, because one of them may
   * call `rewrite`.
   */
  private flying: Group;
  private flyingBytes = 0;
  private rewrites: Rewrite[] = [];
  private busy = false;
  /** Why the journal takes no more calls. */
  private ended: Error | undefined;
  private isBroken = false;
  private closed = false;
  private whenIdle: () => void = () => {};
  private readonly next = (): void => this.writeNext();

  constructor({ path, pendingBytesMax = PENDING_BYTES_MAX }: JournalOptions, file: JournalFile) {
    const { records, findings, mark } = file;
    this.path = path;
    this.pendingMax = pendingBytesMax;
    this.file = file;
    this.recovered = records;
    this.findings = findings;
    this.damagedPlaces = findings.places + findings.restored;
    this.group = { frames: new Frames(mark), landing: undefined };
    this.flying = { frames: new Frames(mark), landing: undefined };
  }

  readonly append = (record: Uint8Array, isNeeded = false): Promise<void> => {
    if (this.ended !== undefined) return Promise.reject(this.ended);
    const { group, pendingMax } = this;
    const pending = group.frames.length + this.flyingBytes + FRAME_BYTES + record.length;
    if (pending > pendingMax + (isNeeded ? pendingMax / NEEDED_PART : 0)) {
      return Promise.reject(new JournalFullError(`${pending} bytes wait for the disk`));
    }
    group.frames.add(record);
    group.landing ??= Promise.withResolvers();
    this.wake();
    return group.landing.promise;
  };

  readonly rewrite = async (records: Iterable<Uint8Array>): Promise<void> => {
    if (this.ended !== undefined) throw this.ended;
    const landing = Promise.withResolvers<void>();
    this.rewrites.push({ ...landing, records, carried: this.flying.frames.bytes().slice() });
    this.wake();
    return landing.promise;
  };

  readonly close = async (): Promise<void> => {
    if (this.closed) return;
    this.closed = true;
    this.ended = new Error('the journal is closed');
    if (this.busy) {
      await new Promise<void>((resolve) => {
        this.whenIdle = resolve;
      });
    }
    this.file.close(!this.isBroken);
  };

  /**
   * Collects for one turn of the event loop before the first write, then while one runs, which a
   * Batcher does not.
   */
  private wake(): void {
    if (this.busy) return;
    this.busy = true;
    setImmediate(this.next);
  }

  // Rewrites run first; the records in `group` then follow into the new file.
  private writeNext(): void {
    this.flying.frames.clear();
    if (this.rewrites.length > 0) {
      void this.replace();
    } else if (this.group.frames.length > 0) {
      [this.group, this.flying] = [this.flying, this.group];
      this.flyingBytes = this.flying.frames.length;
      this.file.append(this.flying.frames.bytes(), (error) => this.landed(error));
    } else {
      this.busy = false;
      this.whenIdle();
    }
  }

  private landed(error: Error | null): void {
    const { landing } = this.flying;
    this.flying.landing = undefined;
    this.flyingBytes = 0;
    if (error instanceof DiskUnknown) {
      this.fail(error.cause, [landing]);
      return;
    }
    if (error === null) landing?.resolve();
    else landing?.reject(error);
    // Deferred by a turn: the callers that were waiting may have their next record ready.
    setImmediate(this.next);
  }

  private fail(cause: unknown, waiting: readonly (Landing | undefined)[]): void {
    const ended = new JournalBrokenError(`the journal ${this.path} is out of use`, { cause });
    this.isBroken = true;
    this.ended = ended;
    for (const landing of [...waiting, this.group.landing, ...this.rewrites]) {
      landing?.reject(ended);
    }
    this.rewrites = [];
    this.group.landing = undefined;
    this.group.frames.clear();
    this.next();
  }

  private async replace(): Promise<void> {
    // Of several rewrites only the last would ever be visible.
    const waiters = this.rewrites;
    this.rewrites = [];
    try {
      const { records, carried } = waiters.at(-1)!;
      await this.file.replace(records, carried);
    } catch (error) {
      if (error instanceof DiskUnknown) {
        this.fail(error.cause, waiters);
      } else {
        // The old file is unchanged and stays in use.
        for (const { reject } of waiters) reject(error);
        this.next();
      }
      return;
    }
    for (const { resolve } of waiters) resolve();
    setImmediate(this.next);
  }
}

/** Reads the file, or begins it. */
export const openJournal = (options: JournalOptions): DiskJournal =>
  new DiskJournal(options, new JournalFile(options.path, options.fileBytesMax ?? FILE_BYTES_MAX));
