/**
 * Measures inputs in a process of their own, which ends with an input that takes longer than the
 * deadline. The next input gets a new one.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Trial } from './trial.ts';

const PROGRAM = fileURLToPath(new URL('trial.ts', import.meta.url));
const RUNS = 3;

export interface Trials {
  /** Milliseconds of processor time, or the deadline where it takes longer. */
  cost(text: string): Promise<number>;
  end(): void;
}

export function createTrials(problem: string, deadlineMs: number): Trials {
  let child: ChildProcess | undefined;

  /** Undefined where the process is gone or did not answer in time. */
  function ask(trial: Trial, waitMs: number): Promise<number | undefined> {
    child ??= fork(PROGRAM, [problem], { serialization: 'advanced' });
    const process = child;
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(undefined), waitMs);
      const gone = (): void => settle(undefined);
      const settle = (ms: unknown): void => {
        clearTimeout(timer);
        process.off('message', settle).off('exit', gone);
        if (typeof ms !== 'number') end();
        resolve(typeof ms === 'number' ? ms : undefined);
      };
      process.once('message', settle).once('exit', gone);
      process.send(trial);
    });
  }

  function end(): void {
    child?.kill('SIGKILL');
    child = undefined;
  }

  return {
    async cost(text) {
      const waitMs = 2 * RUNS * deadlineMs + 2_000;
      const first = await ask({ text, runs: 1 }, 2 * deadlineMs + 2_000);
      if (first === undefined) return deadlineMs;
      if (first === 0 || first > deadlineMs) return Math.min(first, deadlineMs);
      const least = await ask({ text, runs: RUNS }, waitMs);
      return Math.min(deadlineMs, first, least ?? deadlineMs);
    },
    end,
  };
}
