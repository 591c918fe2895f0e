/**
 * Measures the delay of the event loop of a whole node in this process that makes a block of 1 MiB
 * every second from a full pool. The row `loop` of the benchmark does the same with blocks of other
 * nodes.
 *
 *   node bench/event-loop.ts [SECONDS]
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '../src/adapters/system.ts';
import { loadConfig } from '../src/cli/config-file.ts';
import { runNode } from '../src/cli/run-node.ts';
import { pack } from '../src/mempool/packer.ts';
import type { Tx } from '../src/tx/transaction.ts';
import { makeBlock } from '../test/chain/make-block.ts';
import { makeDevFolder } from './node/dev-folder.ts';
import { createSenders } from './transfers/senders.ts';
import { fundingTransfers, nthTransfer } from './transfers/transfers.ts';

const SENDERS = 3000;
/** A few more than a block of 1 MiB holds. */
const PER_BLOCK = 6600;
const AT_ONCE = 2000;
/** The first blocks run on cold code. */
const WARM_UP = 5;
const ROUND_MS = 1000;
const RESOLUTION_MS = 10;
const SETTINGS = ['miner.enable=no', 'rest-api.enable=no', 'utx.memory-limit=200 MB'];

const seconds = Number(process.argv[2] ?? 20);
const dir = mkdtempSync(join(tmpdir(), 'event-loop-'));
const folder = await makeDevFolder({ dir, roundMs: ROUND_MS, genesisTimestamp: Date.now() });
const { config } = await loadConfig(folder.config, { set: SETTINGS });
// The owner of a development network has no password.
process.env['PLATFORM_NODE_OWNER_PASSWORD_EMPTY'] = 'true';
const node = await runNode(config);
node.log.setLevel('error');
const { blockchain, pool } = node;
const clock = systemClock();
const senders = createSenders(SENDERS, folder.scheme);

async function submitAll(txs: Iterable<Tx>): Promise<void> {
  let batch: Promise<Tx>[] = [];
  for (const tx of txs) {
    batch.push(pool.submit(tx));
    if (batch.length < AT_ONCE) continue;
    await Promise.all(batch);
    batch = [];
  }
  await Promise.all(batch);
}

/** Waits for the next round and makes its block; gives the milliseconds that took. */
async function produceBlock(): Promise<number> {
  for (;;) {
    const slot = blockchain.nextSlot(folder.owner, clock.now());
    const wait = Math.max(0, (slot?.from ?? 0) - clock.now());
    await new Promise((resolve) => setTimeout(resolve, wait));
    const now = clock.now();
    // The timer may come a little early, and on a busy machine when the round is over.
    if (slot === undefined || now < slot.from || now >= slot.until) continue;
    const start = performance.now();
    await makeBlock(blockchain, folder.owner, now, (draft, limits) =>
      pack(pool, limits, draft, clock),
    );
    return performance.now() - start;
  }
}

await submitAll(fundingTransfers(senders, folder.owner, clock.now(), folder.scheme));
await produceBlock();
const total = (WARM_UP + seconds) * PER_BLOCK;
await submitAll(
  (function* () {
    for (let n = 0; n < total; n++) yield nthTransfer(n, senders, clock.now(), folder.scheme);
  })(),
);
for (let i = 0; i < WARM_UP; i++) await produceBlock();

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
const cpu = process.cpuUsage();
const before = blockchain.tip().height;
const waiting = pool.size();
const times: number[] = [];
delay.enable();
for (let i = 0; i < seconds; i++) times.push(await produceBlock());
delay.disable();
const used = process.cpuUsage(cpu);
const blocks = blockchain.tip().height - before;
const transactions = waiting - pool.size();
// The histogram counts the interval of its own timer too.
const ms = (ns: number): string => Math.max(0, ns / 1e6 - RESOLUTION_MS).toFixed(1);
times.sort((a, b) => a - b);
const lines = [
  `${blocks} blocks, ${transactions} transactions`,
  `event-loop delay: p50 ${ms(delay.percentile(50))} ms, p99 ${ms(delay.percentile(99))} ms, ` +
    `longest ${ms(delay.max)} ms`,
  `a block: ${times[times.length >> 1]?.toFixed(0)} ms from packing to disk, ` +
    `${((used.user + used.system) / transactions).toFixed(1)} µs of processor time a transaction`,
];
process.stdout.write(`${lines.join('\n')}\n`);
await node.stop();
rmSync(dir, { recursive: true });
process.exit(0);
