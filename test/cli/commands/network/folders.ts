/** Folders of a network that the real commands make. */
import { join } from 'node:path';
import { jsonLines, type Run, run } from '../../run.ts';

const ORGANISATIONS = ['alpha', 'beta', 'gamma', 'delta'] as const;
/** Nobody listens there. */
const placeOf = (index: number): string => `127.0.0.${index + 1}:7001:7002`;

export const requestOf = (dir: string, name: string): string =>
  join(dir, name, `${name}.request.json`);

export const answerOf = ({ code, stdout, stderr }: Run): Record<string, unknown> => {
  if (code !== 0) throw new Error(stderr);
  return jsonLines(stdout)[0]!;
};

export interface Drafted {
  readonly dir: string;
  readonly names: readonly string[];
}

/** The folder of a founder. */
export async function drafted(dir: string, count = 2, more: readonly string[] = []) {
  const names = ORGANISATIONS.slice(0, count);
  const orgs = names.flatMap((name, index) => ['--org', `${name}=${placeOf(index)}`]);
  answerOf(await run(['network', 'init', ...orgs, '--out', dir, ...more]));
  return { dir, names };
}

export const joined = (dir: string, ...more: readonly string[]): Promise<Run> =>
  run(['network', 'join', dir, '--empty-passwords', ...more]);

/** The same, and every member has made its keys. */
export async function requested(dir: string, count = 2, more: readonly string[] = []) {
  const { names } = await drafted(dir, count, more);
  for (const name of names) answerOf(await joined(join(dir, name)));
  return { names, requests: names.map((name) => requestOf(dir, name)) };
}

export const merged = (dir: string, requests: readonly string[]): Promise<Run> =>
  run(['network', 'merge', dir, ...requests]);
