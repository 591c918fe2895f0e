/**
 * HTTP load from a separate process: keep-alive connections over plain sockets, requests prepared
 * as bytes in advance, answers only split and timed. A full HTTP client would cost more than the
 * server under test, and so measure itself. This one costs about as much as its two system calls.
 *
 * The process stays between jobs, so that only its very first job runs on cold code.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { RequestBatch } from './requests.ts';

export interface LoadJob {
  /** Of this machine; connections are spread evenly over them. */
  readonly ports: readonly number[];
  readonly connections: number;
  /** Stop after this time … */
  readonly durationMs: number;
  /** … or once every request was sent, when they may not be repeated. */
  readonly once: boolean;
  /** Each connection rests between an answer and its next request. */
  readonly pauseMs?: number;
  /** The process never sleeps while it waits for answers, so that no server has to wake it. */
  readonly polls?: boolean;
  readonly requests: RequestBatch;
}

export interface LoadResult {
  readonly answers: number;
  /** Answers whose status was not 200. */
  readonly refused: number;
  /** Connections that were lost before their last answer. */
  readonly lost: number;
  readonly seconds: number;
  /** Answers with status 200. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** What the load itself took of the machine. */
  readonly cpuSeconds: number;
  /** The first refused answer, to explain a failed run. */
  readonly sample?: string | undefined;
}

export interface HttpLoad {
  readonly pid: number;
  /** One job at a time. */
  run(job: LoadJob): Promise<LoadResult>;
  stop(): Promise<void>;
}

export function startHttpLoad(): HttpLoad {
  const child = fork(fileURLToPath(new URL('http-process.ts', import.meta.url)), {
    stdio: 'inherit',
    // Requests travel as bytes, not as text.
    serialization: 'advanced',
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    pid: child.pid!,
    run: (job) => answerOf(child, job),
    stop() {
      child.kill();
      return ended;
    },
  };
}

function answerOf(child: ChildProcess, job: LoadJob): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const died = (code: number | null): void => reject(new Error(`the load ended with ${code}`));
    child.once('exit', died);
    child.once('message', (result) => {
      child.off('exit', died);
      resolve(result as LoadResult);
    });
    child.send(job);
  });
}
