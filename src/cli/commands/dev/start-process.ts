import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/**
 * Starts this program again with another command line. The file `log` gets its whole output; each
 * setting is in the form of `--set`.
 */
export function startProcess(
  command: readonly string[],
  settings: readonly string[],
  log: string,
  env?: NodeJS.ProcessEnv,
): ChildProcess {
  const file = openSync(log, 'a');
  const sets = settings.flatMap((one) => ['--set', one]);
  const child = fork(process.argv[1] ?? '', [...command, ...sets], {
    stdio: ['ignore', file, file, 'ipc'],
    // Ctrl-C reaches all processes of a terminal's group, and the caller ends this one.
    detached: true,
    env: { ...process.env, ...env },
  });
  closeSync(file);
  return child;
}
