// Runs the real command, as a shell would.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { childEnvironment } from '../child-environment.ts';

const BINARY = join(import.meta.dirname, '../../bin/platform-node');

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Another user, where the test is root. */
  readonly uid?: number;
}

export function run(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  const child = spawn(BINARY, args, {
    env: childEnvironment(options.env),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // A command that reads nothing may be gone before its input is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

export const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
export const jsonLines = (text: string): Record<string, unknown>[] =>
  lines(text).map((line) => JSON.parse(line));
