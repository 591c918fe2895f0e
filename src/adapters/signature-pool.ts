/**
 * Signature checks in worker threads.
 *
 * Checks asked for in one turn of the event loop travel together. A batch is copied into a buffer
 * that changes hands by transfer, which was measured to cost the main thread less than shared
 * memory with Atomics: 1.5–4 µs per check with 32 in flight, whatever the thread does. A thread
 * that dies takes no verdict with it: its batches go to another one.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { OwnFailure } from '../base/errors.ts';
import type { Log, SignatureCheck, Verifier } from '../base/ports.ts';
import {
  batchOverhead,
  type CheckSizes,
  itemSize,
  type VerifyThreadData,
  verdictsOf,
  writeBatch,
} from './signature-batch.ts';

export interface VerifyPoolOptions extends CheckSizes {
  /** Module of the thread: src/cli/signature-worker.ts. */
  readonly workerUrl: URL;
  /** Name of the cryptographic family that the thread shall use. */
  readonly family: string;
  /** Upper limit; threads start when there is work for them. Default: one per processor. */
  readonly threads?: number;
  /** Converted public keys that each thread remembers. */
  readonly cachedKeys?: number;
  /** Checks not yet answered, above which new ones are refused. */
  readonly checksMax?: number;
  readonly log?: Log;
}

export interface VerifyPool extends Verifier {
  /** Checks not yet answered. */
  readonly pending: number;
}

/** More checks, or bytes of messages, than the pool holds. Try again later. */
export class VerifyQueueFullError extends OwnFailure {
  override name = 'VerifyQueueFullError';
}

/** The pool was closed before there was a verdict. */
export class VerifyPoolClosedError extends OwnFailure {
  override name = 'VerifyPoolClosedError';
}

/** Threads died again and again; there is no verdict. */
export class VerifyThreadError extends OwnFailure {
  override name = 'VerifyThreadError';
}

export const verifyPoolLimits = {
  checks: 65_536,
  messageBytes: 256 * 1024 * 1024,
  cachedKeysPerThread: 100_000,
  /** About 5 ms of work: what a single check may wait behind each batch of a block. */
  batchChecks: 64,
  /** Of single checks: each verdict is followed by work on the main thread in the same turn. */
  batchSingles: 16,
  batchBytes: 64 * 1024,
  /** Fewer are not worth a second thread: waking one costs as much as a check. */
  shareMin: 4,
  /** Handed over and not answered, so that a thread finds work when it finishes. */
  batchesPerThread: 2,
  /** Threads that may die over one check. */
  attempts: 3,
  /** Threads that may die in a row without a single answer: then the program is broken. */
  deathsInARow: 8,
  /** Heap of a thread, MiB; what it keeps per key is outside. */
  threadHeap: 64,
};

/** One call of `verify` or `verifyOne`. */
interface Job {
  readonly items: readonly SignatureCheck[];
  /** The next item to hand over. */
  next: number;
  settle(index: number, verdict: boolean): void;
  fail(error: Error): void;
}

interface Entry {
  readonly job: Job;
  readonly index: number;
  attempts: number;
}

interface Thread {
  readonly worker: Worker;
  /** In the order in which their answers will come. */
  readonly batches: Entry[][];
}

export function createVerifyPool(options: VerifyPoolOptions): VerifyPool {
  const limits = verifyPoolLimits;
  const threadsMax = options.threads ?? availableParallelism();
  const checksMax = options.checksMax ?? limits.checks;
  const threads: Thread[] = [];
  const spare: ArrayBuffer[] = [];
  /** Single checks, and those whose thread died. */
  const singles: Entry[] = [];
  const jobs: Job[] = [];
  let pending = 0;
  let pendingBytes = 0;
  /** Entries in `singles` and `jobs`. */
  let waiting = 0;
  let deathsInARow = 0;
  let gathering = false;
  let closed = false;

  return {
    get pending() {
      return pending;
    },

    verifyOne(publicKey, message, signature) {
      const item = { publicKey, message, signature };
      if (!hasSizes(item)) return Promise.resolve(false);
      return new Promise((resolve, reject) => {
        if (!admit(1, message.length, reject)) return;
        const job: Job = {
          items: [item],
          next: 1,
          settle: (_, verdict) => resolve(verdict),
          fail: reject,
        };
        singles.push({ job, index: 0, attempts: 0 });
        gather();
      });
    },

    verify(all) {
      const verdicts = new Array<boolean>(all.length).fill(false);
      const places = all.flatMap((item, place) => (hasSizes(item) ? [place] : []));
      if (places.length === 0) return Promise.resolve(verdicts);
      const items = places.map((place) => all[place]!);
      const bytes = items.reduce((sum, item) => sum + item.message.length, 0);
      let left = items.length;
      return new Promise((resolve, reject) => {
        if (!admit(items.length, bytes, reject)) return;
        const settle = (index: number, verdict: boolean) => {
          verdicts[places[index]!] = verdict;
          left -= 1;
          if (left === 0) resolve(verdicts);
        };
        jobs.push({ items, next: 0, settle, fail: reject });
        gather();
      });
    },

    async close() {
      closed = true;
      const error = new VerifyPoolClosedError('the verification pool is closed');
      for (const { batches } of threads) for (const { job } of batches.flat()) job.fail(error);
      failWaiting(error);
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
    },
  };

  function hasSizes({ publicKey, signature }: SignatureCheck): boolean {
    return publicKey.length === options.publicKeySize && signature.length === options.signatureSize;
  }

  function admit(checks: number, bytes: number, refuse: (error: Error) => void): boolean {
    if (closed) {
      refuse(new VerifyPoolClosedError('the verification pool is closed'));
      return false;
    }
    if (pending + checks > checksMax || pendingBytes + bytes > limits.messageBytes) {
      refuse(new VerifyQueueFullError(`${pending} signature checks are waiting already`));
      return false;
    }
    pending += checks;
    pendingBytes += bytes;
    waiting += checks;
    return true;
  }

  /** Lets the other handlers of this turn of the event loop add to the batch. */
  function gather(): void {
    if (gathering) return;
    gathering = true;
    setImmediate(() => {
      gathering = false;
      handOver();
    });
  }

  /**
   * Every batch costs this thread and the other one 15 µs beside the checks, so small ones are
   * avoided: threads without work share what there is, the others get full batches only. What then
   * waits for an answer makes the next batch larger.
   */
  function handOver(): void {
    const idle = threadsMax - threads.filter(({ batches }) => batches.length > 0).length;
    const share = Math.max(limits.shareMin, Math.ceil(waiting / Math.max(1, idle)));
    while (waiting > 0) {
      const thread = freest();
      if (thread === undefined) return;
      // Where a thread died, one of several checks may be the reason: now each travels alone.
      const suspect = singles[0] !== undefined && singles[0].attempts > 0;
      const batch = nextBatch(suspect ? 1 : Math.min(limits.batchChecks, share));
      const buffer = write(batch);
      thread.batches.push(batch);
      thread.worker.postMessage(buffer, [buffer]);
    }
  }

  /** A thread that may take a batch; a new one when all others are busy. */
  function freest(): Thread | undefined {
    let best: Thread | undefined;
    for (const thread of threads) {
      if (best === undefined || thread.batches.length < best.batches.length) best = thread;
    }
    if (best?.batches.length === 0) return best;
    if (threads.length < threadsMax) return start();
    const isRoom = best !== undefined && best.batches.length < limits.batchesPerThread;
    return isRoom && waiting >= limits.batchChecks ? best : undefined;
  }

  /** Up to `share` checks, half of them single ones if both kinds wait: neither starves. */
  function nextBatch(share: number): Entry[] {
    const batch: Entry[] = [];
    let bytes = 0;
    const fits = (item: SignatureCheck): boolean => {
      bytes += itemSize(options, item);
      // A message that is longer than a whole batch travels alone.
      return batch.length === 0 || bytes <= limits.batchBytes;
    };
    const singlesMax = Math.min(
      limits.batchSingles,
      jobs.length === 0 ? share : Math.ceil(share / 2),
    );
    let taken = 0;
    while (taken < singlesMax && taken < singles.length) {
      const entry = singles[taken]!;
      if (!fits(entry.job.items[entry.index]!)) break;
      batch.push(entry);
      taken += 1;
    }
    singles.splice(0, taken);
    for (let job = jobs[0]; job !== undefined && batch.length < share; job = jobs[0]) {
      if (!fits(job.items[job.next]!)) break;
      batch.push({ job, index: job.next, attempts: 0 });
      job.next += 1;
      if (job.next === job.items.length) jobs.shift();
    }
    waiting -= batch.length;
    return batch;
  }

  function write(batch: readonly Entry[]): ArrayBuffer {
    const items = batch.map(({ job, index }) => job.items[index]!);
    const size = items.reduce((sum, item) => sum + itemSize(options, item), 0);
    const fixed = batchOverhead(items.length);
    const fromSpare = size <= limits.batchBytes ? spare.pop() : undefined;
    const room = batchOverhead(limits.batchChecks) + Math.max(limits.batchBytes, size);
    const buffer = fromSpare ?? new ArrayBuffer(Math.max(room, fixed + size));
    writeBatch(buffer, options, items);
    return buffer;
  }

  function start(): Thread {
    const workerData: VerifyThreadData = {
      family: options.family,
      publicKeySize: options.publicKeySize,
      signatureSize: options.signatureSize,
      cachedKeys: options.cachedKeys ?? limits.cachedKeysPerThread,
    };
    const worker = new Worker(options.workerUrl, {
      name: 'verify',
      workerData,
      // The thread has no use for the environment, which may hold passwords.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: limits.threadHeap },
    });
    const thread: Thread = { worker, batches: [] };
    let cause: unknown;
    worker.on('message', (buffer: ArrayBuffer) => answer(thread, buffer));
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => replace(thread, cause));
    threads.push(thread);
    return thread;
  }

  function answer(thread: Thread, buffer: ArrayBuffer): void {
    const batch = thread.batches.shift();
    if (closed || batch === undefined) return;
    deathsInARow = 0;
    const verdicts = verdictsOf(buffer);
    for (const [i, { job, index }] of batch.entries()) {
      release(job.items[index]!);
      job.settle(index, verdicts[i] === 1);
    }
    const isUsual = buffer.byteLength === batchOverhead(limits.batchChecks) + limits.batchBytes;
    if (isUsual && spare.length < threadsMax * limits.batchesPerThread) spare.push(buffer);
    handOver();
  }

  function release(item: SignatureCheck): void {
    pending -= 1;
    pendingBytes -= item.message.length;
  }

  /** The thread is gone; what it had goes to others, unless it seems to be the reason. */
  function replace(thread: Thread, cause: unknown): void {
    threads.splice(threads.indexOf(thread), 1);
    if (closed) return;
    const lost = thread.batches.flat();
    options.log?.error('verify.thread-died', { lost: lost.length, cause: String(cause) });
    deathsInARow += 1;
    if (deathsInARow === limits.deathsInARow) {
      deathsInARow = 0;
      singles.push(...lost);
      failWaiting(new VerifyThreadError(`threads keep dying: ${String(cause)}`));
      return;
    }
    // The batch it was working on is the suspect; those behind it were not begun.
    for (const entry of thread.batches[0] ?? []) entry.attempts += 1;
    const again = lost.filter((entry) => entry.attempts < limits.attempts);
    singles.unshift(...again);
    waiting += again.length;
    for (const { job, index, attempts } of lost) {
      if (attempts < limits.attempts) continue;
      release(job.items[index]!);
      job.fail(new VerifyThreadError(`no verdict after ${attempts} attempts: ${String(cause)}`));
    }
    handOver();
  }

  /** Everything that is not in the hands of a thread. */
  function failWaiting(error: Error): void {
    for (const { job, index } of singles.splice(0)) {
      release(job.items[index]!);
      job.fail(error);
    }
    for (const job of jobs.splice(0)) {
      for (const item of job.items.slice(job.next)) release(item);
      job.fail(error);
    }
    waiting = 0;
  }
}

/** The same interface on the calling thread, for tests, simulation and short-lived commands. */
export function inlineVerifier(family: {
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  prepare(publicKeys: readonly Uint8Array[]): void;
}): Verifier {
  return {
    verifyOne: async (publicKey, message, signature) =>
      family.verify(publicKey, message, signature),
    async verify(items) {
      family.prepare(items.map((item) => item.publicKey));
      return items.map((item) => family.verify(item.publicKey, item.message, item.signature));
    },
    close: async () => {},
  };
}
