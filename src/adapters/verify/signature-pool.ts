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
import type { Log } from '../../base/ports/log.ts';
import type { SignatureCheck, Verifier } from '../../base/ports/verifier.ts';
import { Batcher } from '../../concurrency/batcher.ts';
import {
  batchOverhead,
  type CheckSizes,
  itemSize,
  verdictsOf,
  writeBatch,
} from './signature-batch.ts';
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

/** The pool was closed before there was a verdict. */
export class VerifyPoolClosedError extends OwnFailure {
  override name = 'VerifyPoolClosedError';

  constructor() {
    super('Overloaded', 'the verification pool is closed');
  }
}

/** Threads died repeatedly, so there is no verdict. */
export class VerifyThreadError extends OwnFailure {
  override name = 'VerifyThreadError';

  constructor(why: string) {
    super('Overloaded', why);
  }
}

export class VerifyPool implements Verifier {
  private readonly options: VerifyPoolOptions;
  private readonly queue: SignatureQueue;
  private readonly buffers: SignatureBuffers;
  private readonly threads: VerifyThreads;
  private deathsInARow = 0;
  /** The other handlers of this turn may add to the batch. */
  private readonly turn = new Batcher(() => this.handOver());
  private closed = false;

  constructor(options: VerifyPoolOptions) {
    const threadsMax = options.threads ?? availableParallelism();
    this.options = options;
    this.queue = new SignatureQueue(options, options.checksMax ?? limits.checks);
    this.buffers = new SignatureBuffers(options, threadsMax * limits.batchesPerThread);
    this.threads = new VerifyThreads(options, threadsMax, {
      onAnswer: (batch, buffer) => this.onAnswer(batch, buffer),
      onDeath: (batches, cause) => this.onDeath(batches, cause),
    });
  }

  /** Checks not yet answered. */
  get pending(): number {
    return this.queue.pending;
  }

  verifyOne(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
    const item = { publicKey, message, signature };
    if (!this.hasSizes(item)) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      this.requireOpen();
      const settle = (_: number, verdict: boolean): void => resolve(verdict);
      this.queue.addSingle({ items: [item], settle, fail: reject });
      this.turn.ask();
    });
  }

  verify(all: readonly SignatureCheck[]): Promise<boolean[]> {
    const verdicts = new Array<boolean>(all.length).fill(false);
    const places = all.flatMap((item, place) => (this.hasSizes(item) ? [place] : []));
    if (places.length === 0) return Promise.resolve(verdicts);
    let left = places.length;
    return new Promise((resolve, reject) => {
      this.requireOpen();
      const settle = (index: number, verdict: boolean) => {
        verdicts[places[index]!] = verdict;
        left -= 1;
        if (left === 0) resolve(verdicts);
      };
      this.queue.addAll({ items: places.map((place) => all[place]!), settle, fail: reject });
      this.turn.ask();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    const error = new VerifyPoolClosedError();
    for (const { job } of this.threads.unanswered()) job.fail(error);
    this.queue.failWaiting(error);
    await this.threads.end();
  }

  private hasSizes({ publicKey, signature }: SignatureCheck): boolean {
    const { publicKeySize, signatureSize } = this.options;
    return publicKey.length === publicKeySize && signature.length === signatureSize;
  }

  private requireOpen(): void {
    if (this.closed) throw new VerifyPoolClosedError();
  }

  /**
   * Besides its checks, every batch costs this thread and the other one 15 µs, so small batches are
   * avoided. Threads without work share the waiting checks; busy threads get full batches only.
   * Checks that wait meanwhile make the next batch larger.
   */
  private handOver(): void {
    const { queue, threads, buffers } = this;
    const share = Math.ceil(queue.waiting / Math.max(1, threads.idle));
    const most = Math.min(limits.batchChecks, Math.max(limits.shareMin, share));
    while (queue.waiting > 0) {
      const thread = threads.freest(queue.waiting);
      if (thread === undefined) return;
      const batch = queue.nextBatch(most);
      threads.give(thread, batch, buffers.write(batch.map(checkOf)));
    }
  }

  private onAnswer(batch: readonly QueuedSignature[], buffer: ArrayBuffer): void {
    this.deathsInARow = 0;
    const verdicts = verdictsOf(buffer);
    for (const [i, entry] of batch.entries()) {
      this.queue.release(entry);
      entry.job.settle(entry.index, verdicts[i] === 1);
    }
    this.buffers.giveBack(buffer);
    this.handOver();
  }

  /**
   * The thread is gone; other threads take its batches, except a check that seems to be the cause.
   */
  private onDeath(batches: readonly QueuedSignature[][], cause: unknown): void {
    const { queue } = this;
    const lost = batches.flat();
    this.options.log?.error('verify.thread-died', { lost: lost.length, cause: String(cause) });
    this.deathsInARow += 1;
    if (this.deathsInARow === limits.deathsInARow) {
      this.deathsInARow = 0;
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
    this.handOver();
  }
}

const { batchChecks, batchBytes } = limits;
const USUAL_BYTES = batchOverhead(batchChecks) + batchBytes;

/**
 * Buffers in which batches travel to the threads and back; buffers of the usual size are used
 * again.
 */
class SignatureBuffers {
  private readonly sizes: CheckSizes;
  private readonly spareMax: number;
  private readonly spare: ArrayBuffer[] = [];

  constructor(sizes: CheckSizes, spareMax: number) {
    this.sizes = sizes;
    this.spareMax = spareMax;
  }

  /** A buffer with the checks, at most `batchChecks` of them. */
  write(items: readonly SignatureCheck[]): ArrayBuffer {
    const size = items.reduce((sum, item) => sum + itemSize(this.sizes, item), 0);
    const spare = size <= batchBytes ? this.spare.pop() : undefined;
    const room = batchOverhead(batchChecks) + Math.max(batchBytes, size);
    const buffer = spare ?? new ArrayBuffer(room);
    writeBatch(buffer, this.sizes, items);
    return buffer;
  }

  /** Called when the buffer has come back and its verdicts have been read. */
  giveBack(buffer: ArrayBuffer): void {
    if (buffer.byteLength === USUAL_BYTES && this.spare.length < this.spareMax) {
      this.spare.push(buffer);
    }
  }
}
