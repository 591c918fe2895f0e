/**
 * What the store and its writing thread say to each other, and when the thread may be stopped.
 *
 * Invariant: the process never ends while the thread is inside a transaction. LMDB's binding waits
 * for ever when a thread is torn down there, so the one who wants to end it waits for IDLE first.
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

/** Longer than any transaction takes; then the process ends anyway. */
const STOP_MS_MAX = 10_000;

/** In the thread: runs `write` unless the process is about to end. */
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

/** In the main thread, which blocks until no transaction is running; none begins afterwards. */
export function stopWriting(shared: SharedArrayBuffer): void {
  const state = new Int32Array(shared);
  const until = performance.now() + STOP_MS_MAX;
  while (Atomics.compareExchange(state, 0, IDLE, STOPPED) === WRITING) {
    const left = until - performance.now();
    if (left <= 0 || Atomics.wait(state, 0, WRITING, left) === 'timed-out') return;
  }
}
