/**
 * The main thread's interface to the thread that writes to LMDB.
 *
 * Invariants: one request runs at a time; it is answered, or rejected when the thread dies; only a
 * running request keeps the process alive, and the process does not end inside a transaction.
 */
import { Worker } from 'node:worker_threads';
import { threadFlags } from '../threads/thread-flags.ts';
import type { EnvironmentOptions } from './environment.ts';
import {
  type StoreThreadAnswer,
  type StoreThreadData,
  type StoreThreadRequest,
  stopWriting,
} from './thread.ts';

const YOUNG_MB = 4;

export class WritingThread {
  private readonly worker: Worker;
  private readonly ended = Promise.withResolvers<void>();
  private waiting: PromiseWithResolvers<StoreThreadAnswer> | undefined;

  /** `onEnd`: called when the thread takes no more requests. */
  constructor(options: EnvironmentOptions, url: URL, onEnd: () => void) {
    const state = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    this.worker = newWorker(options, url, state);
    const stop = (): void => stopWriting(state);
    let cause: unknown = 'it ended';
    process.on('exit', stop);
    this.worker.unref();
    this.worker.on('message', (answer: StoreThreadAnswer) => this.waiting?.resolve(answer));
    this.worker.on('error', (error) => {
      cause = error;
    });
    this.worker.on('exit', () => {
      process.off('exit', stop);
      onEnd();
      this.waiting?.reject(new Error(`the writing thread died: ${String(cause)}`));
      this.ended.resolve();
    });
  }

  /** Transfers the buffers to the thread; the answer returns them. */
  async write(buffers: readonly ArrayBuffer[]): Promise<StoreThreadAnswer> {
    const answer = Promise.withResolvers<StoreThreadAnswer>();
    this.waiting = answer;
    this.worker.ref();
    this.worker.postMessage(buffers satisfies StoreThreadRequest, [...buffers]);
    try {
      return await answer.promise;
    } finally {
      this.waiting = undefined;
      this.worker.unref();
    }
  }

  async end(): Promise<void> {
    this.worker.ref();
    this.worker.postMessage(undefined satisfies StoreThreadRequest);
    await this.ended.promise;
  }
}

function newWorker(options: EnvironmentOptions, url: URL, state: SharedArrayBuffer): Worker {
  // Callers' tables have codecs too, which cannot be handed to a thread.
  const tables = options.tables.map(({ id, name }) => ({ id, name }));
  const workerData: StoreThreadData = { options: { ...options, tables }, state };
  return new Worker(url, {
    name: 'store',
    workerData,
    // The thread has no use for the environment, which may hold passwords.
    env: {},
    execArgv: threadFlags(),
    // Its garbage is short-lived. The heap has no limit of its own: a thread that ran into one
    // would end inside a transaction.
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
}
