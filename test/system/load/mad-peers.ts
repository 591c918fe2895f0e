/** Unknown hosts that send any bytes to the port for peers, from a separate process. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../../child-environment.ts';
import type { Scope } from '../e2e/process.ts';
import { runAfter } from './client-priority.ts';

export interface MadPeersJob {
  readonly port: number;
  readonly connections: number;
  readonly ms: number;
  readonly seed: number;
}

/** Resolves with the number of frames when the time is over. */
export function madPeers(scope: Scope, job: MadPeersJob): Promise<number> {
  const program = fileURLToPath(new URL('mad-peers-process.ts', import.meta.url));
  const child = fork(program, {
    stdio: 'inherit',
    env: childEnvironment(),
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  runAfter(child.pid!);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  scope.teardown(() => {
    child.kill();
    return ended;
  });
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the mad peers ended: ${code}`)));
    child.once('message', (frames) => resolve(frames as number));
    child.send(job);
  });
}
