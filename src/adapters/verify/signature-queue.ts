/**
 * Signature checks that wait for a thread, and the count of those without a verdict.
 *
 * Invariants: the number of checks without a verdict and the bytes of their messages are limited;
 * single checks and those of blocks share each batch, so both make progress; the checks and bytes
 * of a batch are limited.
 */
import { OwnFailure } from '../../base/errors.ts';
import type { SignatureCheck } from '../../base/ports/verifier.ts';
import { type CheckSizes, itemSize } from './signature-batch.ts';
import { verifyPoolLimits as limits } from './signature-limits.ts';

/**
 * There are more checks, or bytes of messages, than the pool may hold. The caller may try again
 * later.
 */
export class VerifyQueueFullError extends OwnFailure {
  override name = 'VerifyQueueFullError';

  constructor(why: string) {
    super('Overloaded', why);
  }
}

/** The checks of one caller. */
export interface Job {
  readonly items: readonly SignatureCheck[];
  settle(index: number, verdict: boolean): void;
  fail(error: Error): void;
}

/** One check of a job. */
export interface QueuedSignature {
  readonly job: Job;
  readonly index: number;
  /** The number of threads that died while they had it. */
  attempts: number;
}

export const checkOf = ({ job, index }: QueuedSignature): SignatureCheck => job.items[index]!;

const messageBytesOf = (items: readonly SignatureCheck[]): number =>
  items.reduce((sum, { message }) => sum + message.length, 0);

export class SignatureQueue {
  private readonly sizes: CheckSizes;
  private readonly checksMax: number;
  /** Single checks, and checks whose thread died. */
  private readonly singles: QueuedSignature[] = [];
  /** Jobs of several checks, each with the next check to pass on. */
  private readonly jobs: { readonly job: Job; next: number }[] = [];
  private pendingBytes = 0;
  /** Checks without a verdict, including those that a thread has. */
  pending = 0;
  /** Checks that no thread has. */
  waiting = 0;

  constructor(sizes: CheckSizes, checksMax: number) {
    this.sizes = sizes;
    this.checksMax = checksMax;
  }

  /** Throws VerifyQueueFullError. */
  addSingle(job: Job): void {
    this.requireRoom(job.items);
    this.count(job.items);
    this.singles.push({ job, index: 0, attempts: 0 });
  }

  /**
   * Throws VerifyQueueFullError. Where no other job waits there is room in any case: one block may have more
   * checks than that, and else no node could ever take it.
   */
  addAll(job: Job): void {
    if (this.jobs.length > 0) this.requireRoom(job.items);
    this.count(job.items);
    this.jobs.push({ job, next: 0 });
  }

  /**
   * Up to `share` checks, half of them single ones if both kinds wait. Where a thread died, one of
   * its checks may be the cause, so each of them then travels alone.
   */
  nextBatch(share: number): QueuedSignature[] {
    const isSuspect = this.singles[0] !== undefined && this.singles[0].attempts > 0;
    const most = isSuspect ? 1 : share;
    const batch: QueuedSignature[] = [];
    let bytes = 0;
    const fits = (item: SignatureCheck): boolean => {
      bytes += itemSize(this.sizes, item);
      // A message that is longer than a whole batch travels alone.
      return batch.length === 0 || bytes <= limits.batchBytes;
    };
    this.takeSingles(batch, this.jobs.length === 0 ? most : Math.ceil(most / 2), fits);
    this.takeOfJobs(batch, most, fits);
    this.waiting -= batch.length;
    return batch;
  }

  /** The check has its verdict, or will never get one. */
  release(entry: QueuedSignature): void {
    this.uncount(checkOf(entry));
  }

  /** Checks whose thread died go before all others. */
  putBack(entries: readonly QueuedSignature[]): void {
    this.singles.unshift(...entries);
    this.waiting += entries.length;
  }

  /** Fails all checks that no thread has. */
  failWaiting(error: Error): void {
    for (const entry of this.singles.splice(0)) {
      this.release(entry);
      entry.job.fail(error);
    }
    for (const { job, next } of this.jobs.splice(0)) {
      for (const item of job.items.slice(next)) this.uncount(item);
      job.fail(error);
    }
    this.waiting = 0;
  }

  private takeSingles(
    batch: QueuedSignature[],
    share: number,
    fits: (item: SignatureCheck) => boolean,
  ): void {
    const most = Math.min(limits.batchSingles, share, this.singles.length);
    while (batch.length < most) {
      const entry = this.singles[batch.length]!;
      if (!fits(checkOf(entry))) break;
      batch.push(entry);
    }
    this.singles.splice(0, batch.length);
  }

  private takeOfJobs(
    batch: QueuedSignature[],
    share: number,
    fits: (item: SignatureCheck) => boolean,
  ): void {
    const { jobs } = this;
    for (let first = jobs[0]; first !== undefined && batch.length < share; first = jobs[0]) {
      const { job, next: index } = first;
      if (!fits(job.items[index]!)) return;
      batch.push({ job, index, attempts: 0 });
      first.next += 1;
      if (first.next === job.items.length) jobs.shift();
    }
  }

  private requireRoom(items: readonly SignatureCheck[]): void {
    const { pending, pendingBytes } = this;
    const bytes = pendingBytes + messageBytesOf(items);
    if (pending + items.length <= this.checksMax && bytes <= limits.messageBytes) return;
    throw new VerifyQueueFullError(`${pending} signature checks are waiting already`);
  }

  private count(items: readonly SignatureCheck[]): void {
    this.pending += items.length;
    this.pendingBytes += messageBytesOf(items);
    this.waiting += items.length;
  }

  private uncount(item: SignatureCheck): void {
    this.pending -= 1;
    this.pendingBytes -= item.message.length;
  }
}
