/** Programs that the tests of a release run, with the pinned Node before the machine's own. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '../../child-environment.ts';

export const ROOT = join(import.meta.dirname, '../../..');
export const MODULES = join(ROOT, 'node_modules');

const run = promisify(execFile);
const PATH = `${MODULES}/node/bin:${MODULES}/.bin:${process.env['PATH']}`;
export const environment = childEnvironment({ PATH });

/** What the program prints on its standard output; rejects with all of it where it fails. */
export async function output(
  cwd: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await run(program, args, { cwd, env: { ...environment, ...env } });
  return stdout;
}

/** What it prints on both. */
export async function said(program: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(program, args, { env: environment });
  return stdout + stderr;
}
