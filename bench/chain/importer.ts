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
const OWN_CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = join(OWN_CHECKOUT, 'bin/platform-node.ts');
const run = promisify(execFile);

/** Gives the path of the file, which is in the folder of the chain. */
export async function exportChain({ dir, config }: DevFolder, from = 2): Promise<string> {
  const file = join(dir, 'chain.bin');
  // An older checkout may import it, too.
  const version = ['--file-version', '1'];
  const args = ['chain', 'export', config, file, '--from', String(from), ...version];
  await run(process.execPath, [FLAG, PROGRAM, ...args]);
  return file;
}

export interface ImporterOptions {
  /** Of the contender, by default `import`. */
  readonly name?: string;
  /** Of import.ts. */
  readonly flags?: readonly string[];
  /** Fills the folder, which is empty otherwise. */
  readonly before?: (data: string) => void;
  /** Whose code imports, by default this one. */
  readonly checkout?: string | undefined;
}

/** Imports all of the file into a new folder. */
export function importer(
  bench: Pick<Bench, 'nodeFlags'>,
  { dir, config }: Pick<DevFolder, 'dir' | 'config'>,
  file: string,
  options: ImporterOptions = {},
): Contender {
  const { name = 'import', flags = [], before = () => {}, checkout } = options;
  return {
    name,
    async run() {
      const data = join(dir, 'copy');
      before(data);
      const args = [config, file, data, ...flags];
      const imported = await runImport(args, { checkout, nodeFlags: bench.nodeFlags });
      const { transactions, seconds, cpuSeconds } = imported;
      rmSync(data, { recursive: true });
      const cost = cpuSeconds / transactions;
      return {
        perSecond: transactions / seconds,
        cpuPerOperation: cost,
        costPerOperation: cost,
      };
    },
  };
}

interface RunImportOptions extends Pick<ImporterOptions, 'checkout'> {
  readonly nodeFlags?: readonly string[];
}

/** Runs import.ts of a checkout, in a process of its own. */
export async function runImport(
  args: readonly string[],
  { checkout = OWN_CHECKOUT, nodeFlags = [] }: RunImportOptions = {},
): Promise<ImportResult> {
  const script = join(checkout, 'bench/chain/import.ts');
  const { stdout } = await run(process.execPath, [FLAG, ...nodeFlags, script, ...args]);
  return JSON.parse(stdout) as ImportResult;
}
