/** The delay of the event loop while blocks of 1 MiB arrive on an idle node. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Bench } from '../bench.ts';
import type { ApplyResult } from '../chain/apply.ts';
import { generateChain } from '../chain/generate.ts';
import { exportChain } from '../chain/importer.ts';
import { atMost, type RowResult } from '../report/result.ts';

const TRANSFERS = { full: 200_000, quick: 60_000 };
const FLAG = '--disable-warning=ExperimentalWarning';
const APPLY = fileURLToPath(new URL('../chain/apply.ts', import.meta.url));
const run = promisify(execFile);

export async function loop(bench: Bench): Promise<RowResult> {
  const dir = bench.folder('loop');
  const { folder } = await generateChain(dir, TRANSFERS[bench.quick ? 'quick' : 'full']);
  const file = await exportChain(folder);
  const args = [FLAG, APPLY, folder.config, file, join(dir, 'copy')];
  const { stdout } = await run(process.execPath, args);
  const { blocks, p50Ms, p99Ms, maxMs, blockMs } = JSON.parse(stdout) as ApplyResult;
  return {
    row: 'loop',
    title: 'event-loop delay',
    figures: [
      { what: `event-loop delay, ${blocks} blocks of 1 MiB`, value: `p99 ${p99Ms.toFixed(1)} ms` },
      { what: 'p50, longest', value: `${p50Ms.toFixed(1)} ms, ${maxMs.toFixed(0)} ms` },
      { what: 'to verify, apply and commit one', value: `${blockMs.toFixed(0)} ms` },
    ],
    goals: [{ level: 'Good', conditions: [atMost(20, p99Ms, 'ms p99')] }],
    notes: [],
  };
}
