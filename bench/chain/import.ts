/**
 * Imports a chain file into an empty data directory, as `platform-node chain import` does, and
 * prints the time that it took. `--trusted` leaves out the signatures, as for blocks verified
 * before.
 *
 *   node bench/chain/import.ts CONFIG FILE DATA-DIRECTORY [--trusted]
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import { stderrLog } from '../../src/adapters/log.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { importBlocks } from '../../src/chain/import-blocks.ts';
import { readChainFile } from '../../src/cli/chain-file.ts';
import { loadConfig } from '../../src/cli/config-file.ts';
import { cryptographyOfConfig } from '../../src/cli/cryptography.ts';
import { genesisBlock } from '../../src/cli/genesis-block.ts';
import { createVerifyThreads } from '../../src/cli/signature-threads.ts';
import { tables } from '../../src/ledger/tables.ts';
import { openBlockchain } from '../../src/node/open-blockchain.ts';

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
const { config } = await loadConfig(configPath);
const { scheme, family } = cryptographyOfConfig(config);
const folder = join(data, 'chain');
mkdirSync(folder, { recursive: true });
const store = await openLmdbStore({ folder, tables });
const log = stderrLog('warn', false);
const verifier = createVerifyThreads(family, { log });
const ports = { scheme, store, verifier, clock: systemClock(), log };
const { blockchain } = await openBlockchain(config, genesisBlock(config), ports);

const source = await readChainFile(file, scheme);
const start = performance.now();
const cpu = process.cpuUsage();
const transactions = await importBlocks(blockchain, verifier, source.blocks, {
  from: source.from,
  verify: !values.trusted,
});
const { user, system } = process.cpuUsage(cpu);
const result: ImportResult = {
  transactions,
  seconds: (performance.now() - start) / 1000,
  cpuSeconds: (user + system) / 1e6,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
await verifier.close();
await store.close();
