/**
 * The threads that check signatures, and which of them takes the next batch.
 *
 * Invariants: a thread starts when there is work that no other takes; each holds few batches, and
 * answers them in order; once the threads are ended, nothing is reported any more.
 */
import { Worker } from 'node:worker_threads';
import { threadFlags } from '../threads/thread-flags.ts';
import type { CheckSizes, VerifyThreadData } from './signature-batch.ts';
import { verifyPoolLimits as limits } from './signature-limits.ts';
import type { QueuedSignature } from './signature-queue.ts';

export interface VerifyThreadsOptions extends CheckSizes {
  /** Module of the thread: src/adapters/verify/signature-worker.ts. */
  readonly workerUrl: URL;
  /** The name of the cryptography family that the thread uses. */
  readonly family: string;
}

export interface VerifyThreadsEvents {
  /** `buffer` holds the verdicts. */
  readonly onAnswer: (batch: readonly QueuedSignature[], buffer: ArrayBuffer) => void;
  /** A thread died; it was working on the first of these batches. */
  readonly onDeath: (batches: readonly QueuedSignature[][], cause: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  /** In the order in which their answers will come. */
  readonly batches: QueuedSignature[][];
}

export class VerifyThreads {
  private readonly options: VerifyThreadsOptions;
  private readonly threadsMax: number;
  private readonly events: VerifyThreadsEvents;
  private readonly threads: Thread[] = [];
  private ended = false;

  constructor(options: VerifyThreadsOptions, threadsMax: number, events: VerifyThreadsEvents) {
    this.options = options;
    this.threadsMax = threadsMax;
    this.events = events;
  }

  /** The number of threads without work, those included that have not started. */
  get idle(): number {
    return this.threadsMax - this.threads.filter(({ batches }) => batches.length > 0).length;
  }

  /** A thread that can take a batch; a new one when all others are busy. */
  freest(waiting: number): Thread | undefined {
    let best: Thread | undefined;
    for (const thread of this.threads) {
      if (best === undefined || thread.batches.length < best.batches.length) best = thread;
    }
    if (best?.batches.length === 0) return best;
    if (this.threads.length < this.threadsMax) return this.start();
    const isRoom = best !== undefined && best.batches.length < limits.batchesPerThread;
    return isRoom && waiting >= limits.batchChecks ? best : undefined;
  }

  /** Hands the buffer over. */
  give({ worker, batches }: Thread, batch: QueuedSignature[], buffer: ArrayBuffer): void {
    batches.push(batch);
    worker.postMessage(buffer, [buffer]);
  }

  /** The checks that have been handed over and have no verdict. */
  unanswered(): QueuedSignature[] {
    return this.threads.flatMap(({ batches }) => batches.flat());
  }

  async end(): Promise<void> {
    this.ended = true;
    await Promise.all(this.threads.map(({ worker }) => worker.terminate()));
  }

  private start(): Thread {
    const thread: Thread = { worker: newWorker(this.options), batches: [] };
    let cause: unknown;
    thread.worker.on('message', (buffer: ArrayBuffer) => {
      const batch = thread.batches.shift();
      if (!this.ended && batch !== undefined) this.events.onAnswer(batch, buffer);
    });
    thread.worker.on('error', (error) => {
      cause = error;
    });
    thread.worker.on('exit', () => {
      this.threads.splice(this.threads.indexOf(thread), 1);
      if (!this.ended) this.events.onDeath(thread.batches, cause);
    });
    this.threads.push(thread);
    return thread;
  }
}

function newWorker(options: VerifyThreadsOptions): Worker {
  const workerData: VerifyThreadData = {
    family: options.family,
    publicKeySize: options.publicKeySize,
    signatureSize: options.signatureSize,
    cachedKeys: limits.cachedKeysPerThread,
  };
  return new Worker(options.workerUrl, {
    name: 'verify',
    workerData,
    // The thread does not need the environment, which may hold passwords.
    env: {},
    execArgv: threadFlags(),
    resourceLimits: { maxOldGenerationSizeMb: limits.threadHeap },
  });
}
