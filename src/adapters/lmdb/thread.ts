/**
 * The messages between the store and its writing thread, and the rule for stopping the thread.
 *
 * Invariant: the process never ends while the thread is inside a transaction. LMDB's binding waits
 * for ever when a thread is ended there, so the main thread waits for IDLE before it ends the
 * thread.
 */
import type { EnvironmentOptions } from './environment.ts';

export interface StoreThreadData {
  readonly options: EnvironmentOptions;
  /** One Int32: IDLE, WRITING or STOPPED. */
  readonly state: SharedArrayBuffer;
}

/** Rows of one transaction (rows.ts); undefined asks the thread to close and end. */
export type StoreThreadRequest = readonly ArrayBuffer[] | undefined;

export interface StoreThreadAnswer {
  /** The buffers of the request, to be used again. */
  readonly buffers: readonly ArrayBuffer[];
  /** Why nothing was written. */
  readonly problem?: string;
}

const IDLE = 0;
const WRITING = 1;
const STOPPED = 2;

/** Longer than any transaction takes; after it the process ends anyway. */
const STOP_MS_MAX = 10_000;

/** Runs in the thread: calls `write` unless the process is about to end. */
export function whileWriting(shared: SharedArrayBuffer, write: () => void): void {
  const state = new Int32Array(shared);
  if (Atomics.compareExchange(state, 0, IDLE, WRITING) !== IDLE) return;
  try {
    write();
  } finally {
    Atomics.store(state, 0, IDLE);
    Atomics.notify(state, 0);
  }
}

/** Runs in the main thread: blocks until no transaction is running. None begins afterwards. */
export function stopWriting(shared: SharedArrayBuffer): void {
  const state = new Int32Array(shared);
  const until = performance.now() + STOP_MS_MAX;
  while (Atomics.compareExchange(state, 0, IDLE, STOPPED) === WRITING) {
    const left = until - performance.now();
    if (left <= 0 || Atomics.wait(state, 0, WRITING, left) === 'timed-out') return;
  }
}
