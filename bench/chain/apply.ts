/**
 * Appends the blocks of a chain file one by one, as they would come from other nodes, and prints
 * how long the event loop was blocked meanwhile.
 *
 *   node bench/chain/apply.ts CONFIG FILE DATA-DIRECTORY
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readChainFile } from '../../src/cli/commands/chain/chain-file.ts';
import { openChain } from './opened.ts';

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
const { scheme, blockchain, close } = await openChain(configPath, data);

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
await close();
