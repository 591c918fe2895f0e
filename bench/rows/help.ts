/** Processor time of `platform-node --help`, beside an idle Node. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Bench } from '../bench.ts';
import { cpuSecondsOf } from '../measure/cpu.ts';
import { atMost, type RowResult } from '../report/result.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/platform-node', import.meta.url));
/** /proc counts in hundredths of a second, so that many runs share the error. */
const RUNS = 20;

export async function help(_bench: Bench): Promise<RowResult> {
  const own = cpuMsOf(PROGRAM, ['--help']);
  const node = cpuMsOf(process.execPath, ['--eval', '0']);
  return {
    row: 'help',
    title: 'platform-node --help',
    figures: [
      {
        what: 'processor time of --help',
        value: `${own.toFixed(0)} ms`,
        against: `node alone ${node.toFixed(0)} ms`,
      },
    ],
    goals: [{ level: 'Good', conditions: [atMost(120, own, 'ms')] }],
    notes: [],
  };
}

function cpuMsOf(program: string, args: readonly string[]): number {
  const before = cpuSecondsOf(process.pid);
  const used = process.cpuUsage();
  for (let i = 0; i < RUNS; i++) execFileSync(program, args);
  const { user, system } = process.cpuUsage(used);
  return ((cpuSecondsOf(process.pid) - before) * 1000 - (user + system) / 1000) / RUNS;
}
