/**
 * Threads that do the part of requests that needs no state, for the thread that holds their
 * connections: they read bodies, check signatures and print answers. That takes most of the time of
 * a request and makes most of its garbage. So the thread of the connections stays free to refuse at
 * once what is too much.
 *
 * Invariants: each body has one result; the caller bounds the bodies that wait; a thread starts when
 * there is work that no other takes, and holds few batches, so that what waits makes the next ones
 * larger.
 */
import { Worker } from 'node:worker_threads';
import { Batcher } from '../../../concurrency/batcher.ts';
import { threadFlags } from '../../threads/thread-flags.ts';
import {
  type BodyBatch,
  type FromOffloadThread,
  type OffloadResult,
  READY,
} from './offload-messages.ts';

/** A message costs as much as some requests, so what waits travels together. */
const BATCH_BODIES = 64;
const BATCH_BYTES = 32 * 1024;
/** So many are worth the message where a thread has nothing to do. */
const SHARE_BODIES = 8;
/** So that a thread finds work when it finishes a batch. */
const BATCHES_PER_THREAD = 2;
/** What the caller does with so many takes about a millisecond. */
const RESULTS_PER_TURN = 8;
/** In MiB; a body and its answer take a small part of it, and are soon garbage. */
const HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 12 };

export interface OffloadThreadsOptions {
  /** Module of the thread; it calls `serveOffload`. */
  readonly workerUrl: URL;
  readonly workerData: unknown;
  /** The most of them. */
  readonly threadsMax: number;
  /** A thread ended without being asked to; what it had will never have a result. */
  readonly onDeath: (cause: Error) => void;
}

type Resolve = (result: OffloadResult) => void;
type Settle = () => void;

class Batch {
  private bytes: Uint8Array<ArrayBuffer>;
  private readonly ends: number[] = [];
  readonly waiting: Resolve[] = [];
  private used = 0;

  constructor(bytes: number) {
    this.bytes = new Uint8Array(Math.max(BATCH_BYTES, bytes));
  }

  get bodies(): number {
    return this.ends.length;
  }

  hasRoom(bytes: number): boolean {
    return this.bodies < BATCH_BODIES && this.used + bytes <= this.bytes.length;
  }

  add(body: Uint8Array, resolve: Resolve): void {
    this.bytes.set(body, this.used);
    this.used += body.length;
    this.ends.push(this.used);
    this.waiting.push(resolve);
  }

  get message(): BodyBatch {
    return { buffer: this.bytes.buffer, ends: this.ends };
  }
}

interface Thread {
  readonly worker: Worker;
  /** In the order in which their results will come. */
  readonly batches: Batch[];
  isReady: boolean;
}

export class OffloadThreads {
  private readonly options: OffloadThreadsOptions;
  private readonly threads: Thread[] = [];
  private readonly batches: Batch[] = [];
  private readonly results: Settle[] = [];
  private readonly turn = new Batcher(() => this.handOver());
  private ended = false;

  constructor(options: OffloadThreadsOptions) {
    this.options = options;
  }

  /** Copies the body. */
  run(body: Uint8Array): Promise<OffloadResult> {
    let batch = this.batches.at(-1);
    if (batch === undefined || !batch.hasRoom(body.length) || this.isShare(batch)) {
      batch = new Batch(body.length);
      this.batches.push(batch);
    }
    const { promise, resolve } = Promise.withResolvers<OffloadResult>();
    batch.add(body, resolve);
    this.turn.ask();
    return promise;
  }

  private settle(results: readonly Settle[]): void {
    const isIdle = this.results.length === 0;
    this.results.push(...results);
    if (isIdle) this.settleSome();
  }

  /** New requests come between. */
  private settleSome(): void {
    for (const settle of this.results.splice(0, RESULTS_PER_TURN)) settle();
    if (this.results.length > 0) setImmediate(() => this.settleSome());
  }

  /** When all results are there. */
  end(): void {
    this.ended = true;
    for (const { worker } of this.threads) void worker.terminate();
  }

  /** A thread that has nothing to do will begin with this batch; the next bodies make another. */
  private isShare(batch: Batch): boolean {
    if (batch.bodies < SHARE_BODIES) return false;
    const idle = this.threads.filter(({ isReady, batches }) => isReady && batches.length === 0);
    return this.batches.length <= idle.length;
  }

  private handOver(): void {
    while (this.batches.length > 0) {
      const thread = this.freest();
      if (thread === undefined) return;
      const batch = this.batches.shift()!;
      thread.batches.push(batch);
      thread.worker.postMessage(batch.message, [batch.message.buffer]);
    }
  }

  /**
   * A thread that can take a batch. Where all are busy, another one is started; until it is ready,
   * which takes long beside other work, the others go on.
   */
  private freest(): Thread | undefined {
    let best: Thread | undefined;
    let isStarting = false;
    for (const one of this.threads) {
      if (!one.isReady) isStarting = true;
      else if (best === undefined || one.batches.length < best.batches.length) best = one;
    }
    if (best?.batches.length === 0) return best;
    if (!isStarting && this.threads.length < this.options.threadsMax) this.start();
    return best !== undefined && best.batches.length < BATCHES_PER_THREAD ? best : undefined;
  }

  private start(): void {
    const { workerUrl, workerData, onDeath } = this.options;
    const worker = new Worker(workerUrl, {
      name: 'offload',
      workerData,
      // The thread does not need the environment, which may hold passwords.
      env: {},
      execArgv: threadFlags(),
      resourceLimits: HEAP,
    });
    const thread: Thread = { worker, batches: [], isReady: false };
    let cause: unknown;
    worker.on('message', (message: FromOffloadThread) => {
      if (message === READY) thread.isReady = true;
      else {
        const { waiting } = thread.batches.shift()!;
        this.settle(waiting.map((resolve, i) => () => resolve(message[i]!)));
      }
      this.handOver();
    });
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', (code) => {
      // What another thread has thrown is no error that can travel further.
      if (!this.ended) onDeath(new Error(String(cause ?? `it ended with ${code}`)));
    });
    this.threads.push(thread);
  }
}
