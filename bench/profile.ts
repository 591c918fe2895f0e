/**
 * Summarises CPU profiles that `node --cpu-prof` wrote: the time of each function itself, or
 * together with all functions that it called.
 *
 *   node bench/profile.ts FILE.cpuprofile … [--top N] [--files | --inclusive]
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

export interface Share {
  readonly name: string;
  readonly ms: number;
  /** Of the time in which the thread was not idle. */
  readonly share: number;
}

type Naming = (frame: ProfileNode['callFrame']) => string;

const IDLE = '(idle)';
const ROOT = fileURLToPath(new URL('..', import.meta.url));

const placeOf: Naming = ({ url }) =>
  url
    .replace('file://', '')
    .replace(ROOT, '')
    .replace(/.*node_modules\//, '');

const functionOf: Naming = (frame) => {
  const name = frame.functionName === '' ? '(anonymous)' : frame.functionName;
  return frame.url === '' ? name : `${name} ${placeOf(frame)}:${frame.lineNumber + 1}`;
};

const fileOf: Naming = (frame) => (frame.url === '' ? frame.functionName : placeOf(frame));

/** By own time, longest first. */
export function selfTimes(profile: Profile, naming: Naming = functionOf): Share[] {
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, naming(callFrame)]));
  return shares(profile, (id) => [names.get(id) ?? '?']);
}

/** By the time from call to return. */
export function inclusiveTimes(profile: Profile): Share[] {
  const stacks = new Map<number, Set<string>>();
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const walk = (id: number, above: ReadonlySet<string>): void => {
    const node = nodes.get(id);
    if (node === undefined) return;
    const stack = new Set([...above, functionOf(node.callFrame)]);
    stacks.set(id, stack);
    for (const child of node.children ?? []) walk(child, stack);
  };
  walk(profile.nodes[0]?.id ?? 0, new Set());
  return shares(profile, (id) => stacks.get(id) ?? []);
}

function shares(profile: Profile, namesOf: (id: number) => Iterable<string>): Share[] {
  const sums = new Map<string, number>();
  let busy = 0;
  for (const [i, id] of profile.samples.entries()) {
    const ms = (profile.timeDeltas[i] ?? 0) / 1000;
    const names = new Set(namesOf(id));
    if (names.has(IDLE)) continue;
    busy += ms;
    for (const name of names) sums.set(name, (sums.get(name) ?? 0) + ms);
  }
  return [...sums]
    .map(([name, ms]) => ({ name, ms, share: ms / busy }))
    .sort((a, b) => b.ms - a.ms);
}

function main(args: readonly string[]): void {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      top: { type: 'string', default: '25' },
      files: { type: 'boolean', default: false },
      inclusive: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  for (const file of positionals) {
    const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile;
    const times = values.inclusive
      ? inclusiveTimes(profile)
      : selfTimes(profile, values.files ? fileOf : functionOf);
    process.stdout.write(`${basename(file)}\n`);
    for (const { name, ms, share } of times.slice(0, Number(values.top))) {
      const percent = (share * 100).toFixed(1).padStart(5);
      process.stdout.write(`${percent} %  ${ms.toFixed(0).padStart(7)} ms  ${name}\n`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
