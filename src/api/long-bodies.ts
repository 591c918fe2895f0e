/**
 * Reads long bodies in slices, so that the rest of the event loop can run.
 *
 * Invariant: the bytes of all bodies that are being read are limited.
 */
import { apiError } from '../base/errors.ts';
import type { Clock } from '../base/ports.ts';
import { inSlices } from '../concurrency/steps.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import { limits } from './limits.ts';

const BYTES_MAX = 2 * limits.body.sendData;

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

export function createLongBodies(clock: Pick<Clock, 'monotonic' | 'turn'>): LongBodies {
  let held = 0;
  return {
    async read({ bytes, steps }) {
      if (held + bytes > BYTES_MAX) throw apiError('Overloaded');
      held += bytes;
      try {
        return await inSlices(steps, new TimeSlice(clock));
      } finally {
        held -= bytes;
      }
    },
  };
}
