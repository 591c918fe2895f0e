/**
 * Reads long bodies in slices, so that the rest of the event loop can run.
 *
 * Invariant: the bytes of all bodies that are being read are limited.
 */
import type { Clock } from '../base/ports/clock.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import { inSlices } from '../concurrency/steps.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';

/** A body whose value takes several slices to read; it owns its bytes until then. */
export class LongBody<T> {
  readonly bytes: number;
  /** Throws ApiError or CodecError. */
  readonly steps: Generator<undefined, T>;

  constructor(bytes: number, steps: Generator<undefined, T>) {
    this.bytes = bytes;
    this.steps = steps;
  }
}

export interface LongBodies {
  /** Rejects with ApiError or CodecError. */
  read<T>(body: LongBody<T>): Promise<T>;
}

/** `bytesMax`: of all bodies together. */
export function createLongBodies(
  clock: Pick<Clock, 'monotonic' | 'turn'>,
  bytesMax: number,
): LongBodies {
  const held = new Semaphore(bytesMax, { inAll: 0 });
  return {
    read: ({ bytes, steps }) =>
      held.run(() => inSlices(steps, new TimeSlice(clock)), undefined, bytes),
  };
}
