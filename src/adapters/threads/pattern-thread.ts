/**
 * Patterns of clients in one thread, so that no match holds up the node. Lists of keys are matched
 * one after the other, those of different clients in turn. A list that takes too long costs its
 * request; the thread is then replaced.
 */
import { Worker } from 'node:worker_threads';
import { type ApiError, apiError } from '../../base/errors.ts';
import { contractLimits } from '../../base/limits/contract-limits.ts';
import type { Patterns, PatternVerdicts } from '../../base/ports/patterns.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import { threadFlags } from './thread-flags.ts';

export interface PatternQuestion {
  readonly pattern: string;
  readonly keys: readonly string[];
}
/** Undefined: the pattern is refused. */
export type PatternAnswer = PatternVerdicts | undefined;

interface Job extends PatternQuestion {
  readonly settle: (answer: PatternAnswer) => void;
  readonly fail: (cause: ApiError) => void;
}

const WAITING = {
  inAll: contractLimits.patternsWaiting.value,
  ofOwner: contractLimits.patternsWaitingOfOne.value,
};

/** The thread starts with the first pattern. */
export class PatternThread implements Patterns {
  private readonly workerUrl: URL;
  private readonly matchMs: number;
  private readonly places = new Semaphore(1, WAITING);
  private thread: Worker | undefined;
  private running: Job | undefined;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(workerUrl: URL, matchMs = contractLimits.patternTime.value) {
    this.workerUrl = workerUrl;
    this.matchMs = matchMs;
  }

  async match(pattern: string, keys: readonly string[], client: string): Promise<PatternVerdicts> {
    const asked = (): Promise<PatternAnswer> =>
      new Promise((settle, fail) => {
        if (this.closed) fail(apiError('Overloaded'));
        else this.run({ pattern, keys, settle, fail });
      });
    const answer = await this.places.run(asked, client);
    if (answer === undefined) throw apiError('BadKeyFilter', pattern.slice(0, SHOWN_CHARS));
    return answer;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.over((job) => job.fail(apiError('Overloaded')));
    await this.thread?.terminate();
  }

  private run(job: Job): void {
    this.running = job;
    try {
      if (this.thread === undefined) this.thread = this.open();
      else this.ask();
    } catch {
      // The machine gives no thread.
      this.over((job) => job.fail(apiError('Overloaded')));
    }
  }

  private open(): Worker {
    const opened = new Worker(this.workerUrl, {
      execArgv: [...threadFlags(), '--no-warnings'],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    opened.unref();
    // Its first message says that it is ready: its start is not the fault of a pattern.
    opened.once('message', () => {
      opened.on('message', (answer: PatternAnswer) => {
        if (opened === this.thread) this.over((job) => job.settle(answer));
      });
      if (opened === this.thread) this.ask();
    });
    const ended = (): void => {
      if (opened === this.thread) this.replace(apiError('Overloaded'));
    };
    opened.on('error', ended);
    opened.on('exit', ended);
    return opened;
  }

  private ask(): void {
    const { running: job, thread } = this;
    if (job === undefined || thread === undefined) return;
    const slow = apiError('AnswerTooBig', 'such keys against such a pattern');
    // An answer that waits behind a busy event loop is not late.
    const late = (): void => {
      if (this.running === job) this.replace(slow);
    };
    this.timer = setTimeout(() => setImmediate(late), this.matchMs);
    const { pattern, keys } = job;
    thread.postMessage({ pattern, keys } satisfies PatternQuestion);
  }

  private replace(cause: ApiError): void {
    void this.thread?.terminate();
    this.thread = undefined;
    this.over((job) => job.fail(cause));
  }

  private over(end: (job: Job) => void): void {
    clearTimeout(this.timer);
    const job = this.running;
    this.running = undefined;
    if (job !== undefined) end(job);
  }
}

const SHOWN_CHARS = 500;
const HEAP_MB_MAX = 128;
