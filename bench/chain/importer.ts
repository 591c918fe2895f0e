/** A chain as a file, and its import by a fresh process as a contender. */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Bench } from '../bench.ts';
import type { Contender } from '../measure/contender.ts';
import type { DevFolder } from '../node/dev-folder.ts';
import type { ImportResult } from './import.ts';

const FLAG = '--disable-warning=ExperimentalWarning';
const IMPORT = fileURLToPath(new URL('import.ts', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../bin/platform-node.ts', import.meta.url));
const run = promisify(execFile);

/** Gives the path of the file, which is in the folder of the chain. */
export async function exportChain({ dir, config }: DevFolder, from = 2): Promise<string> {
  const file = join(dir, 'chain.bin');
  const args = ['chain', 'export', config, file, '--from', String(from)];
  await run(process.execPath, [FLAG, PROGRAM, ...args]);
  return file;
}

/** Imports all of the file into an empty folder, or the one that `before` fills. */
export function importer(
  bench: Bench,
  { dir, config }: Pick<DevFolder, 'dir' | 'config'>,
  file: string,
  name = 'import',
  flags: readonly string[] = [],
  before: (data: string) => void = () => {},
): Contender {
  return {
    name,
    async run() {
      const data = join(dir, 'copy');
      before(data);
      const args = [FLAG, ...bench.nodeFlags, IMPORT, config, file, data, ...flags];
      const { stdout } = await run(process.execPath, args);
      rmSync(data, { recursive: true });
      const { transactions, seconds, cpuSeconds } = JSON.parse(stdout) as ImportResult;
      const cost = cpuSeconds / transactions;
      return {
        perSecond: transactions / seconds,
        cpuPerOperation: cost,
        costPerOperation: cost,
      };
    },
  };
}
