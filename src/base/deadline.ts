/** Waits and time limits on the clock of the node, so that they also hold under virtual time. */
import type { Clock } from './ports/clock.ts';

/** Resolves after so much time. */
export async function pause(clock: Pick<Clock, 'after'>, ms: number): Promise<void> {
  if (ms > 0) await new Promise<void>((resolve) => void clock.after(ms, resolve));
}

/** A limit for several waits together; `cancel` ends it, and `late` never resolves then. */
export function timeLimit(
  clock: Pick<Clock, 'after'>,
  ms: number,
): { readonly late: Promise<'late'>; readonly cancel: () => void } {
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  return { late, cancel: clock.after(ms, () => resolve('late')) };
}

/** An action has taken longer than it may. */
export class TooLate extends Error {
  override name = 'TooLate';
}

/** Work of this side left no time to begin the action, so the other side has heard nothing of it. */
export class NeverBegun extends Error {
  override name = 'NeverBegun';
}

/**
 * The outcome of `action`, or a rejection with TooLate after `ms`. `signal` aborts then; the action
 * listens to it and releases what it holds.
 */
export async function within<T>(
  clock: Clock,
  ms: number,
  why: string,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const late = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
  });
  const cancel = clock.after(ms, () => controller.abort(new TooLate(why)));
  try {
    return await Promise.race([action(controller.signal), late]);
  } finally {
    cancel();
  }
}

/**
 * The outcome of an action that ends with its signal. That aborts when `given` does, and after `ms`, with
 * the reason that `late` makes.
 */
export async function withTimeout<T>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  given: AbortSignal | undefined,
  action: (signal: AbortSignal) => Promise<T>,
  late?: () => Error,
): Promise<T> {
  const limit = new AbortController();
  const cancel = clock.after(ms, () => limit.abort(late?.()));
  try {
    return await action(
      given === undefined ? limit.signal : AbortSignal.any([limit.signal, given]),
    );
  } finally {
    cancel();
  }
}
