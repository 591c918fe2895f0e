/**
 * Patterns of clients in one thread, so that no match holds up the node. Lists of keys are matched
 * one after the other, those of different clients in turn. A list that takes too long costs its
 * request; the thread is then replaced.
 */
import { Worker } from 'node:worker_threads';
import { contractLimits } from '../base/contract-limits.ts';
import { type ApiError, apiError } from '../base/errors.ts';
import type { Patterns, PatternVerdicts } from '../base/patterns.ts';
import { Semaphore } from '../concurrency/semaphore.ts';

export interface PatternQuestion {
  readonly pattern: string;
  readonly keys: readonly string[];
}
/** Undefined: the pattern is refused. */
export type PatternAnswer = PatternVerdicts | undefined;

export interface PatternThread extends Patterns {
  close(): Promise<void>;
}

interface Job extends PatternQuestion {
  readonly settle: (answer: PatternAnswer) => void;
  readonly fail: (cause: ApiError) => void;
}

const WAITING = {
  inAll: contractLimits.patternsWaiting.value,
  ofOwner: contractLimits.patternsWaitingOfOne.value,
};

export function createPatternThread({
  workerUrl,
  matchMs = contractLimits.patternTime.value,
}: {
  readonly workerUrl: URL;
  readonly matchMs?: number;
}): PatternThread {
  const places = new Semaphore(1, WAITING);
  let thread: Worker | undefined;
  let running: Job | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function open(): Worker {
    const opened = new Worker(workerUrl, {
      execArgv: ['--no-warnings'],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    opened.unref();
    // Its first message says that it is ready: its start is not the fault of a pattern.
    opened.once('message', () => {
      opened.on('message', (answer: PatternAnswer) => {
        if (opened === thread) over((job) => job.settle(answer));
      });
      if (opened === thread) ask();
    });
    const ended = (): void => {
      if (opened === thread) replace(apiError('Overloaded'));
    };
    opened.on('error', ended);
    opened.on('exit', ended);
    return opened;
  }

  function over(end: (job: Job) => void): void {
    clearTimeout(timer);
    const job = running;
    running = undefined;
    if (job !== undefined) end(job);
  }

  function replace(cause: ApiError): void {
    void thread?.terminate();
    thread = undefined;
    over((job) => job.fail(cause));
  }

  function run(job: Job): void {
    running = job;
    try {
      if (thread === undefined) thread = open();
      else ask();
    } catch {
      // The machine gives no thread.
      over((job) => job.fail(apiError('Overloaded')));
    }
  }

  function ask(): void {
    if (running === undefined || thread === undefined) return;
    const slow = apiError('AnswerTooBig', 'such keys against such a pattern');
    const job = running;
    // An answer that waits behind a busy event loop is not late.
    const late = (): void => {
      if (running === job) replace(slow);
    };
    timer = setTimeout(() => setImmediate(late), matchMs);
    const { pattern, keys } = job;
    thread.postMessage({ pattern, keys } satisfies PatternQuestion);
  }

  return {
    async match(pattern, keys, client) {
      const asked = (): Promise<PatternAnswer> =>
        new Promise((settle, fail) => {
          if (closed) fail(apiError('Overloaded'));
          else run({ pattern, keys, settle, fail });
        });
      const answer = await places.run(asked, client);
      if (answer === undefined) throw apiError('BadKeyFilter', pattern.slice(0, SHOWN_CHARS));
      return answer;
    },
    async close() {
      closed = true;
      over((job) => job.fail(apiError('Overloaded')));
      await thread?.terminate();
    },
  };
}

const SHOWN_CHARS = 500;
const HEAP_MB_MAX = 128;
