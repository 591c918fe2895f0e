/**
 * Summarises CPU profiles that `node --cpu-prof` wrote: which functions took the time themselves.
 *
 *   node bench/profile.ts FILE.cpuprofile … [--top N] [--files]
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface SelfTime {
  readonly name: string;
  readonly ms: number;
  /** Of the time in which the thread was not idle. */
  readonly share: number;
}

const IDLE = '(idle)';
const ROOT = `${fileURLToPath(new URL('..', import.meta.url))}`;

/** Functions by their own time, longest first; with `byFile` whole files instead. */
export function selfTimes(profile: Profile, byFile = false): SelfTime[] {
  const names = new Map<number, string>();
  for (const { id, callFrame } of profile.nodes) {
    const { functionName, url, lineNumber } = callFrame;
    const place = url
      .replace('file://', '')
      .replace(ROOT, '')
      .replace(/.*node_modules\//, '');
    const name = functionName === '' ? '(anonymous)' : functionName;
    const full = url === '' ? name : `${name} ${place}:${lineNumber + 1}`;
    names.set(id, byFile && url !== '' ? place : full);
  }
  const sums = new Map<string, number>();
  for (const [i, id] of profile.samples.entries()) {
    const name = names.get(id) ?? '?';
    sums.set(name, (sums.get(name) ?? 0) + (profile.timeDeltas[i] ?? 0) / 1000);
  }
  sums.delete(IDLE);
  const total = [...sums.values()].reduce((sum, ms) => sum + ms, 0);
  return [...sums]
    .map(([name, ms]) => ({ name, ms, share: ms / total }))
    .sort((a, b) => b.ms - a.ms);
}

function main(args: readonly string[]): void {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { top: { type: 'string', default: '25' }, files: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  for (const file of positionals) {
    const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile;
    const times = selfTimes(profile, values.files);
    const total = times.reduce((sum, { ms }) => sum + ms, 0);
    process.stdout.write(`${basename(file)}: ${total.toFixed(0)} ms busy\n`);
    for (const { name, ms, share } of times.slice(0, Number(values.top))) {
      const percent = (share * 100).toFixed(1).padStart(5);
      process.stdout.write(`${percent} %  ${ms.toFixed(0).padStart(7)} ms  ${name}\n`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
