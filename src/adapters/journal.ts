/**
 * An append-only log on disk with group commit (ports.ts, Journal), for what must survive a crash
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
import { JournalFullError } from '../base/journal-full.ts';
import type { Journal } from '../base/ports.ts';
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

export interface DiskJournal extends Journal {
  /** What opening found beside whole records. */
  readonly findings: Findings;
}

export function openJournal(options: JournalOptions): DiskJournal {
  const { path } = options;
  const pendingMax = options.pendingBytesMax ?? PENDING_BYTES_MAX;
  const file = new JournalFile(path, options.fileBytesMax ?? FILE_BYTES_MAX);
  const { records: recovered, findings, mark } = file;

  /** Collects records while `flying` is being written to disk. */
  let group: Group = { frames: new Frames(mark), landing: undefined };
  /**
   * Stays filled after it has been written, until its callers have run, because one of them may
   * call `rewrite`.
   */
  let flying: Group = { frames: new Frames(mark), landing: undefined };
  let flyingBytes = 0;
  let rewrites: Rewrite[] = [];
  let busy = false;
  /** Why the journal takes no more calls. */
  let ended: Error | undefined;
  let isBroken = false;
  let closed = false;
  let whenIdle: () => void = () => {};

  /**
   * Collects for one turn of the event loop before the first write, then while one runs, which a
   * Batcher does not.
   */
  function wake(): void {
    if (busy) return;
    busy = true;
    setImmediate(next);
  }

  // Rewrites run first; the records in `group` then follow into the new file.
  function next(): void {
    flying.frames.clear();
    if (rewrites.length > 0) {
      void replace();
    } else if (group.frames.length > 0) {
      [group, flying] = [flying, group];
      flyingBytes = flying.frames.length;
      file.append(flying.frames.bytes(), landed);
    } else {
      busy = false;
      whenIdle();
    }
  }

  function landed(error: Error | null): void {
    const { landing } = flying;
    flying.landing = undefined;
    flyingBytes = 0;
    if (error instanceof DiskUnknown) {
      fail(error.cause, [landing]);
      return;
    }
    if (error === null) landing?.resolve();
    else landing?.reject(error);
    // Deferred by a turn: the callers that were waiting may have their next record ready.
    setImmediate(next);
  }

  function fail(cause: unknown, waiting: readonly (Landing | undefined)[]): void {
    isBroken = true;
    ended = new Error(`the journal ${path} is out of use`, { cause });
    for (const landing of [...waiting, group.landing, ...rewrites]) landing?.reject(ended);
    rewrites = [];
    group.landing = undefined;
    group.frames.clear();
    next();
  }

  async function replace(): Promise<void> {
    // Of several rewrites only the last would ever be visible.
    const waiters = rewrites;
    rewrites = [];
    try {
      const { records, carried } = waiters.at(-1)!;
      await file.replace(records, carried);
    } catch (error) {
      if (error instanceof DiskUnknown) {
        fail(error.cause, waiters);
      } else {
        // The old file is unchanged and stays in use.
        for (const { reject } of waiters) reject(error);
        next();
      }
      return;
    }
    for (const { resolve } of waiters) resolve();
    setImmediate(next);
  }

  return {
    recovered,
    findings,
    damagedPlaces: findings.places + findings.restored,
    append(record, isNeeded = false) {
      if (ended !== undefined) return Promise.reject(ended);
      const pending = group.frames.length + flyingBytes + FRAME_BYTES + record.length;
      if (pending > pendingMax + (isNeeded ? pendingMax / NEEDED_PART : 0)) {
        return Promise.reject(new JournalFullError(`${pending} bytes wait for the disk`));
      }
      group.frames.add(record);
      group.landing ??= Promise.withResolvers();
      wake();
      return group.landing.promise;
    },
    async rewrite(records) {
      if (ended !== undefined) throw ended;
      const landing = Promise.withResolvers<void>();
      rewrites.push({ ...landing, records, carried: flying.frames.bytes().slice() });
      wake();
      return landing.promise;
    },
    close: async () => {
      if (closed) return;
      closed = true;
      ended = new Error('the journal is closed');
      if (busy) {
        await new Promise<void>((resolve) => {
          whenIdle = resolve;
        });
      }
      file.close(!isBroken);
    },
  };
}
