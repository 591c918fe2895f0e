/**
 * Patterns of clients in one thread, so that no match holds up the node. Lists of keys are matched
 * one after the other, those of different clients in turn. A list that takes too long costs its
 * request; the thread is then replaced.
 */
import { Worker } from 'node:worker_threads';
import { contractLimits } from '../base/contract-limits.ts';
import { type ApiError, apiError } from '../base/errors.ts';
import type { Patterns, PatternVerdicts } from '../base/patterns.ts';

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
  readonly client: string;
  readonly settle: (answer: PatternAnswer) => void;
  readonly fail: (cause: ApiError) => void;
}

const WAITING_MAX = contractLimits.patternsWaiting.value;
const WAITING_OF_CLIENT_MAX = contractLimits.patternsWaitingOfOne.value;

export function createPatternThread({
  workerUrl,
  matchMs = contractLimits.patternTime.value,
}: {
  readonly workerUrl: URL;
  readonly matchMs?: number;
}): PatternThread {
  /** By client; the first client is the next. */
  const waiting = new Map<string, Job[]>();
  let count = 0;
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
    next();
  }

  function replace(cause: ApiError): void {
    void thread?.terminate();
    thread = undefined;
    over((job) => job.fail(cause));
  }

  function next(): void {
    const [first] = waiting;
    if (running !== undefined || first === undefined || closed) return;
    const [client, jobs] = first;
    running = jobs.shift()!;
    count--;
    waiting.delete(client);
    if (jobs.length > 0) waiting.set(client, jobs);
    if (thread === undefined) begin();
    else ask();
  }

  function begin(): void {
    try {
      thread = open();
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
      const own = waiting.get(client) ?? [];
      if (closed || count >= WAITING_MAX || own.length >= WAITING_OF_CLIENT_MAX) {
        throw apiError('Overloaded');
      }
      const answer = await new Promise<PatternAnswer>((settle, fail) => {
        own.push({ pattern, keys, client, settle, fail });
        waiting.set(client, own);
        count++;
        next();
      });
      if (answer === undefined) throw apiError('BadKeyFilter', pattern.slice(0, SHOWN_CHARS));
      return answer;
    },
    async close() {
      closed = true;
      const cause = apiError('Overloaded');
      for (const jobs of waiting.values()) for (const job of jobs) job.fail(cause);
      waiting.clear();
      running?.fail(cause);
      running = undefined;
      clearTimeout(timer);
      await thread?.terminate();
    },
  };
}

const SHOWN_CHARS = 500;
const HEAP_MB_MAX = 128;
