/** Transfers from separate processes, at a rate that the answers do not slow down. */
import { execFileSync, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../../child-environment.ts';
import type { Scope } from '../e2e/process.ts';
import { runFirst } from './client-priority.ts';

export interface TransfersJob {
  readonly port: number;
  readonly connections: number;
  readonly perSecond: number;
  readonly ms: number;
  /** Between two looks at what is due and what was answered. */
  readonly tickMicros: number;
  /** Number of the first transfer; none is sent by two jobs. */
  readonly first: number;
  readonly senders: number;
}

/** Transfers that the next job sends first, signed before it begins. */
export interface ToSign extends Pick<TransfersJob, 'first' | 'senders'> {
  /** How many. */
  readonly sign: number;
}

/** All answers of one status. */
export interface Answers {
  readonly status: number;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The first one, unless it is a 200. */
  readonly sample: string | undefined;
}

export interface TransfersResult {
  /** Number of the next transfer. */
  readonly next: number;
  readonly seconds: number;
  /** What the load itself could not send in time: no connection was idle, or no request was signed. */
  readonly late: number;
  /** How late the timers of the load itself were, the slowest of a hundred: part of every latency. */
  readonly ownDelayMs: number;
  /** Requests without an answer. */
  readonly lost: number;
  readonly answers: readonly Answers[];
}

export interface Transfers {
  /** Resolves when they are signed. One job at a time, of signing or sending. */
  sign(job: ToSign): Promise<unknown>;
  run(job: TransfersJob): Promise<TransfersResult>;
}

/** `isProbe`: measures beside a load. */
export function startTransfers(scope: Scope, isProbe = false): Transfers {
  const child = fork(pathOf('transfers-process.ts'), [compiledSender(scope)], {
    stdio: 'inherit',
    env: childEnvironment(),
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  if (isProbe) runFirst(child.pid!);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  scope.teardown(() => {
    child.kill();
    return ended;
  });
  const done = (job: TransfersJob | ToSign): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const died = (code: number | null): void => reject(new Error(`the load ended: ${code}`));
      child.once('exit', died);
      child.once('message', (result) => {
        child.off('exit', died);
        resolve(result);
      });
      child.send(job);
    });
  return { sign: done, run: (job) => done(job) as Promise<TransfersResult> };
}

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** A sender in JavaScript takes as much of the machine as the node that it overloads. */
function compiledSender(scope: Scope): string {
  const dir = mkdtempSync(join(tmpdir(), 'sender-'));
  scope.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const program = join(dir, 'paced');
  execFileSync('gcc', ['-O2', '-o', program, pathOf('paced.c')]);
  return program;
}

export const answersWith = (result: TransfersResult, status: number): Answers | undefined =>
  result.answers.find((one) => one.status === status);

export const countOf = (result: TransfersResult, status: number): number =>
  answersWith(result, status)?.count ?? 0;
