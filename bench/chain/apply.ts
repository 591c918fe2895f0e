/**
 * Appends the blocks of a chain file one by one, as they would come from other nodes, and prints
 * how long the event loop was blocked meanwhile.
 *
 *   node bench/chain/apply.ts CONFIG FILE DATA-DIRECTORY
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import { stderrLog } from '../../src/adapters/log.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { readChainFile } from '../../src/cli/chain-file.ts';
import { loadConfig } from '../../src/cli/config-file.ts';
import { cryptographyOfConfig } from '../../src/cli/cryptography.ts';
import { genesisBlock } from '../../src/cli/genesis-block.ts';
import { createVerifyThreads } from '../../src/cli/signature-threads.ts';
import { tables } from '../../src/ledger/tables.ts';
import { openBlockchain } from '../../src/node/open-blockchain.ts';

export interface ApplyResult {
  readonly blocks: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** From a block's arrival to its commit. */
  readonly blockMs: number;
}

/** Between two blocks, so that the loop is as idle as on a node that waits for the next round. */
const PAUSE_MS = 500;
const RESOLUTION_MS = 1;
const NS_PER_MS = 1e6;
/** The first blocks run on cold code. */
const WARM_UP_BLOCKS = 4;

const [configPath, file = '', data = ''] = process.argv.slice(2);
const { config } = await loadConfig(configPath);
const { scheme, family } = cryptographyOfConfig(config);
const folder = join(data, 'chain');
mkdirSync(folder, { recursive: true });
const store = await openLmdbStore({ folder, tables });
const log = stderrLog('warn', false);
const verifier = createVerifyThreads(family, { log });
const ports = { scheme, store, verifier, clock: systemClock(), log };
const { blockchain } = await openBlockchain(config, genesisBlock(config), ports);

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
const times: number[] = [];
let seen = 0;
for await (const block of (await readChainFile(file, scheme)).blocks) {
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  if (seen++ === WARM_UP_BLOCKS) delay.enable();
  const start = performance.now();
  await blockchain.append(block);
  times.push(performance.now() - start);
}
delay.disable();
// The histogram counts the interval of its own timer too.
const ms = (ns: number): number => Math.max(0, ns / NS_PER_MS - RESOLUTION_MS);
const result: ApplyResult = {
  blocks: times.length,
  p50Ms: ms(delay.percentile(50)),
  p99Ms: ms(delay.percentile(99)),
  maxMs: ms(delay.max),
  blockMs: times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
await verifier.close();
await store.close();
