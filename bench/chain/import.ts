/**
 * Imports a chain file into an empty data directory, as `platform-node chain import` does, and
 * prints the time that it took. `--trusted` leaves out the signatures, as for blocks verified
 * before.
 *
 *   node bench/chain/import.ts CONFIG FILE DATA-DIRECTORY [--trusted]
 */
import { parseArgs } from 'node:util';
import { importBlocks, replayBlocks } from '../../src/chain/import/import-blocks.ts';
import { readChainFile } from '../../src/cli/commands/chain/chain-file.ts';
import { openChain } from './opened.ts';

export interface ImportResult {
  readonly transactions: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

const { values, positionals } = parseArgs({
  options: { trusted: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [configPath, file = '', data = ''] = positionals;
const { scheme, verifier, blockchain, close } = await openChain(configPath, data);

const source = await readChainFile(file, scheme);
const start = performance.now();
const cpu = process.cpuUsage();
const { blocks, from } = source;
const transactions = values.trusted
  ? await replayBlocks(blockchain, blocks, { from })
  : await importBlocks(blockchain, verifier, blocks, { from });
const { user, system } = process.cpuUsage(cpu);
const result: ImportResult = {
  transactions,
  seconds: (performance.now() - start) / 1000,
  cpuSeconds: (user + system) / 1e6,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
await close();
