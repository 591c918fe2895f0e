/**
 * Where the processor time of a read goes. First the reads of row d and H in turns, with a load
 * that sleeps while it waits and with one that does not: a sleeping process has to be woken, at the
 * expense of the node. Then the parts of an answer with a transaction, from the samples of `perf`.
 *
 *   node bench/measure/read-parts.ts FOLDER-OF-CHAINS [TRANSFERS]
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { keptChain, SIZES, UNCHANGED } from '../chain/kept-chains.ts';
import { startEcho } from '../denominators/hyper-express.ts';
import { type HttpLoad, startHttpLoad } from '../load/http.ts';
import { FROM_SOURCES, startNode } from '../node/node-process.ts';
import { readers } from '../rows/readers.ts';
import { partsOf } from './sampled-parts.ts';

const RUN_MS = 2500;
/** Before the samples: the load gets its requests first. */
const LEAD_MS = 1500;
const ROUNDS = 5;
/** The background check of the store has ended by then. */
const QUIET_AFTER_MS = 24_000;
const SAMPLED_SECONDS = 8;
const SAMPLES_PER_SECOND = 4999;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** From the innermost frame outwards, the first match counts. */
const PARTS: readonly (readonly [part: string, frames: RegExp])[] = [
  ['waking the load (kernel)', /sock_def_readable/],
  ['sending (kernel)', /sys_sendto|__send\b/],
  ['receiving, polling (kernel)', /sys_recvfrom|__libc_recv|epoll_p?wait/],
  ['searching the trees (LMDB)', /getByBinaryV8/],
  ['garbage collection', /CollectGarbage/],
  ['checksums of the rows', /CRC32|JS:\S*unseal/],
  ['Base58', /JS:\S*(encode|decode) \S*base58/],
  ['addresses', /JS:\S*(derive|toText|textsOf)/],
  ['hash of the id', /blake2b|sodium/],
  ['printing', /json\/print\.ts/],
  ['decoding and copying the rows', /JS:\S*(bytesUnder|get \S*(head|row-reader))|getBinaryFast/],
  ['length and flattening of the text', /ByteLength/i],
  ['writing the answer (server)', /res_(tryEnd|writeHeader)|JS:\S*send \S*reply/],
  ['routing, parameters (JavaScript)', /JS:\S* \S*(server|hyper-express)\.ts/],
  ['entering JavaScript', /Execution::Call|MakeCallback|CallbackScope|CallAsFunction/],
  ['server and event loop (native)', /uws_|uv_run|uv__io_poll/],
];

async function main([root, transfers = String(SIZES['1m'])]: readonly string[]): Promise<void> {
  if (root === undefined) throw new Error('usage: read-parts.ts FOLDER-OF-CHAINS [TRANSFERS]');
  const chain = await keptChain(root, Number(transfers), say);
  const load = startHttpLoad();
  const asleep: HttpLoad = { ...load, run: (job) => load.run({ ...job, polls: false }) };
  const started = performance.now();
  const node = await startNode(chain.folder, {
    set: [UNCHANGED],
    execArgv: ['--perf-basic-prof', FROM_SOURCES],
  });
  const [echo, awakeEcho] = [await startEcho(asleep), await startEcho(load)];
  const [, transaction, header] = readers({ load: asleep }, node, chain);
  const [, awakeTransaction, awakeHeader] = readers({ load }, node, chain);
  const contenders = {
    transaction: transaction!,
    header: header!,
    H: echo.get,
    'transaction, load awake': awakeTransaction!,
    'header, load awake': awakeHeader!,
    'H, load awake': awakeEcho.get,
  };
  await transaction!.run(RUN_MS);
  await sleep(QUIET_AFTER_MS - (performance.now() - started));

  const measured = Object.entries(contenders).map(([name, contender]) => {
    return { name, contender, times: [] as number[], rates: [] as number[] };
  });
  for (let round = 0; round < ROUNDS; round++) {
    for (const { contender, times, rates } of measured) {
      const { cpuPerOperation = 0, perSecond } = await contender.run(RUN_MS);
      times.push(cpuPerOperation * 1e6);
      rates.push(perSecond);
    }
  }
  for (const { name, times, rates } of measured) {
    say(`${median(times).toFixed(1)} µs, ${median(rates).toFixed(0)}/s  ${name}`);
  }

  const running = transaction!.run(2 * LEAD_MS + SAMPLED_SECONDS * 1000);
  await sleep(LEAD_MS);
  const stacks = await sampled(node.pid);
  await running;
  const each = median(measured[0]!.times);
  say('\nOf the first, in µs:');
  for (const [part, share] of partsOf(stacks, PARTS)) say(`${(share * each).toFixed(2)}  ${part}`);
  await Promise.all([node.stop(), echo.stop(), awakeEcho.stop(), load.stop()]);
}

/** What `perf script` prints for the main thread of a process. */
async function sampled(pid: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'perf-'));
  const file = join(folder, 'data');
  const rate = String(SAMPLES_PER_SECOND);
  const record = ['record', '-e', 'cpu-clock', '-F', rate, '-g', '-t', String(pid), '-o', file];
  try {
    await perf([...record, '--', 'sleep', String(SAMPLED_SECONDS)]);
    return await perf(['script', '-i', file, '-F', 'ip,sym,dso']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Its output; rejects where `perf` is missing or refuses. */
const perf = async (args: readonly string[]): Promise<string> =>
  (await promisify(execFile)('perf', args, { maxBuffer: 2 ** 30 })).stdout;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

await main(process.argv.slice(2));
