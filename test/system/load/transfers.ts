/** Transfers from separate processes, at a rate that the answers do not slow down. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../../child-environment.ts';
import type { Scope } from '../e2e/process.ts';
import { runFirst } from './client-priority.ts';
import { compiledSender, type Pace, type Sent } from './paced.ts';

export interface TransfersJob extends Pace {
  /** Number of the first transfer; none is sent by two jobs. */
  readonly first: number;
  readonly senders: number;
}

/** Transfers that the next job sends first, signed before it begins. */
export interface ToSign extends Pick<TransfersJob, 'first' | 'senders'> {
  /** How many. */
  readonly sign: number;
}

export interface TransfersResult extends Sent {
  /** Number of the next transfer. */
  readonly next: number;
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
