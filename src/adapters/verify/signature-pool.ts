/**
 * Signature checks in worker threads.
 *
 * Checks requested in one turn of the event loop travel together. A batch is copied into a buffer
 * that is transferred. This was measured to cost the main thread less than shared memory with
 * Atomics: 1.5–4 µs per check with 32 in flight, whatever the thread does. When a thread dies, no
 * verdict is lost, since another thread takes its batches.
 */
import { availableParallelism } from 'node:os';
import { OwnFailure } from '../../base/errors.ts';
import type { Log, SignatureCheck, Verifier } from '../../base/ports.ts';
import { Batcher } from '../../concurrency/batcher.ts';
import { verdictsOf } from './signature-batch.ts';
import { SignatureBuffers } from './signature-buffers.ts';
import { verifyPoolLimits as limits } from './signature-limits.ts';
import { checkOf, type QueuedSignature, SignatureQueue } from './signature-queue.ts';
import { VerifyThreads, type VerifyThreadsOptions } from './verify-threads.ts';

export interface VerifyPoolOptions extends VerifyThreadsOptions {
  /** Upper limit; threads start when there is work for them. Default: one for each processor. */
  readonly threads?: number;
  /** The most checks without an answer; above it new ones are refused. */
  readonly checksMax?: number;
  readonly log?: Log;
}

export interface VerifyPool extends Verifier {
  /** Checks not yet answered. */
  readonly pending: number;
}

/** The pool was closed before there was a verdict. */
export class VerifyPoolClosedError extends OwnFailure {
  override name = 'VerifyPoolClosedError';

  constructor(why: string) {
    super('Overloaded', why);
  }
}

/** Threads died repeatedly, so there is no verdict. */
export class VerifyThreadError extends OwnFailure {
  override name = 'VerifyThreadError';

  constructor(why: string) {
    super('Overloaded', why);
  }
}

export function createVerifyPool(options: VerifyPoolOptions): VerifyPool {
  const threadsMax = options.threads ?? availableParallelism();
  const queue = new SignatureQueue(options, options.checksMax ?? limits.checks);
  const buffers = new SignatureBuffers(options, threadsMax * limits.batchesPerThread);
  const threads = new VerifyThreads(options, threadsMax, { onAnswer, onDeath });
  let deathsInARow = 0;
  /** The other handlers of this turn may add to the batch. */
  const batcher = new Batcher(handOver);
  let closed = false;

  return {
    get pending() {
      return queue.pending;
    },

    verifyOne(publicKey, message, signature) {
      const item = { publicKey, message, signature };
      if (!hasSizes(item)) return Promise.resolve(false);
      return new Promise((resolve, reject) => {
        requireOpen();
        queue.addSingle({ items: [item], settle: (_, verdict) => resolve(verdict), fail: reject });
        batcher.ask();
      });
    },

    verify(all) {
      const verdicts = new Array<boolean>(all.length).fill(false);
      const places = all.flatMap((item, place) => (hasSizes(item) ? [place] : []));
      if (places.length === 0) return Promise.resolve(verdicts);
      let left = places.length;
      return new Promise((resolve, reject) => {
        requireOpen();
        const settle = (index: number, verdict: boolean) => {
          verdicts[places[index]!] = verdict;
          left -= 1;
          if (left === 0) resolve(verdicts);
        };
        queue.addAll({ items: places.map((place) => all[place]!), settle, fail: reject });
        batcher.ask();
      });
    },

    async close() {
      closed = true;
      const error = new VerifyPoolClosedError('the verification pool is closed');
      for (const { job } of threads.unanswered()) job.fail(error);
      queue.failWaiting(error);
      await threads.end();
    },
  };

  function hasSizes({ publicKey, signature }: SignatureCheck): boolean {
    return publicKey.length === options.publicKeySize && signature.length === options.signatureSize;
  }

  function requireOpen(): void {
    if (closed) throw new VerifyPoolClosedError('the verification pool is closed');
  }

  /**
   * Besides its checks, every batch costs this thread and the other one 15 µs, so small batches are
   * avoided. Threads without work share the waiting checks; busy threads get full batches only.
   * Checks that wait meanwhile make the next batch larger.
   */
  function handOver(): void {
    const share = Math.ceil(queue.waiting / Math.max(1, threads.idle));
    const most = Math.min(limits.batchChecks, Math.max(limits.shareMin, share));
    while (queue.waiting > 0) {
      const thread = threads.freest(queue.waiting);
      if (thread === undefined) return;
      const batch = queue.nextBatch(most);
      threads.give(thread, batch, buffers.write(batch.map(checkOf)));
    }
  }

  function onAnswer(batch: readonly QueuedSignature[], buffer: ArrayBuffer): void {
    deathsInARow = 0;
    const verdicts = verdictsOf(buffer);
    for (const [i, entry] of batch.entries()) {
      queue.release(entry);
      entry.job.settle(entry.index, verdicts[i] === 1);
    }
    buffers.giveBack(buffer);
    handOver();
  }

  /**
   * The thread is gone; other threads take its batches, except a check that seems to be the cause.
   */
  function onDeath(batches: readonly QueuedSignature[][], cause: unknown): void {
    const lost = batches.flat();
    options.log?.error('verify.thread-died', { lost: lost.length, cause: String(cause) });
    deathsInARow += 1;
    if (deathsInARow === limits.deathsInARow) {
      deathsInARow = 0;
      queue.putBack(lost);
      queue.failWaiting(new VerifyThreadError(`threads keep dying: ${String(cause)}`));
      return;
    }
    // The batch that the thread was checking is the suspect; the batches behind it had not begun.
    for (const entry of batches[0] ?? []) entry.attempts += 1;
    queue.putBack(lost.filter(({ attempts }) => attempts < limits.attempts));
    for (const entry of lost.filter(({ attempts }) => attempts >= limits.attempts)) {
      queue.release(entry);
      const why = `no verdict after ${entry.attempts} attempts: ${String(cause)}`;
      entry.job.fail(new VerifyThreadError(why));
    }
    handOver();
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
