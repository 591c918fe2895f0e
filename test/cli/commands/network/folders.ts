/** Folders of a network that the real commands make. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../../../system/e2e/dev-node.ts';
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

/**
 * The same, and every member has made its keys: a copy, since each key takes half a second of
 * processor time. Networks of as many members have the same ones.
 */
export async function requested(dir: string, count = 2, more: readonly string[] = []) {
  const key = [count, ...more].join(' ');
  const first = made.get(key) ?? withKeys(join(temporaryFolder(t), 'n'), count, more);
  made.set(key, first);
  const { dir: place, names } = await first;
  cpSync(place, dir, { recursive: true });
  for (const name of names) {
    const config = join(dir, name, 'node.conf');
    writeFileSync(config, readFileSync(config, 'utf8').replaceAll(place, dir));
  }
  return { names, requests: names.map((name) => requestOf(dir, name)) };
}

const made = new Map<string, Promise<Drafted>>();

async function withKeys(dir: string, count: number, more: readonly string[]): Promise<Drafted> {
  const { names } = await drafted(dir, count, more);
  for (const name of names) answerOf(await joined(join(dir, name)));
  return { dir, names };
}

export const merged = (dir: string, requests: readonly string[]): Promise<Run> =>
  run(['network', 'merge', dir, ...requests]);
