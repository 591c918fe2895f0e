/**
 * What takes the memory of a node: under the load of row a, at the highest of two readings a second,
 * and with a full pool. The inspector that answers takes a few MB itself, which row i avoids.
 *
 *   node bench/memory.ts [--seconds N] [--pool N] [--round-ms N] [--set KEY=VALUE …] [--flags='FLAG …']
 *
 * Longer rounds make fewer blocks, so more transactions wait in the pool.
 */
import { parseArgs } from 'node:util';
import { createBench } from './bench.ts';
import { freePort } from './measure/free-port.ts';
import { type Inspector, openInspector } from './measure/inspector.ts';
import { type Mappings, mappingsOf } from './measure/mappings.ts';
import { memoryOf } from './measure/memory.ts';
import { startAccepting } from './node/accepting.ts';
import { makeFunded } from './node/funded.ts';

/** Bytes of one thread's heap. */
interface Heap {
  readonly resident: Readonly<Record<string, number>>;
  readonly used: Readonly<Record<string, number>>;
  /** Buffers outside the heap; only part of a large one may be resident. */
  readonly buffers: number;
}

interface Reading {
  readonly rssMb: number;
  readonly mappings: Mappings;
  /** The main thread's first. */
  readonly heaps: readonly Heap[];
}

const EVERY_MS = 500;
const WARM_UP = 2000;
const SETTLE_MS = 2000;
const BYTES_PER_MB = 1024 * 1024;

const READ_HEAP = `(() => {
  const heap = { resident: {}, used: {}, buffers: process.memoryUsage().external };
  for (const space of process.getBuiltinModule('node:v8').getHeapSpaceStatistics()) {
    const name = space.space_name.replace('_space', '');
    heap.resident[name] = space.physical_space_size;
    heap.used[name] = space.space_used_size;
  }
  return heap;
})()`;

const COLLECT = `(() => {
  process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc');
  process.getBuiltinModule('node:vm').runInNewContext('gc')();
})()`;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    pool: { type: 'string', default: '100000' },
    'round-ms': { type: 'string', default: '1000' },
    set: { type: 'string', multiple: true, default: [] },
    flags: { type: 'string', default: '' },
  },
});
const bench = createBench({ quick: true, evenBusy: true, sizes: [] });
try {
  if (values.seconds !== '0') await underLoad(Number(values.seconds) * 1000);
  if (values.pool !== '0') await fullPool(Number(values.pool));
} finally {
  await bench.close();
}
process.exit(0);

async function underLoad(ms: number): Promise<void> {
  const { node, accepted, inspector, stop } = await start(values.set);
  let highest = await read(node.pid, inspector);
  let isOver = false;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      await wait(EVERY_MS);
      const reading = await read(node.pid, inspector);
      if (reading.rssMb > highest.rssMb) highest = reading;
    }
  };
  const watched = watch();
  const { perSecond } = await accepted.run(ms);
  isOver = true;
  await watched;
  print(`under load (${perSecond.toFixed(0)}/s)`, highest);
  print('afterwards', await read(node.pid, inspector));
  say(`the most: ${memoryOf(node.pid).peakMb.toFixed(0)} MB`);
  inspector.close();
  await stop();
}

async function fullPool(count: number): Promise<void> {
  const { node, fill, inspector, stop } = await start([...values.set, 'miner.enable=no']);
  await fill(WARM_UP);
  await wait(SETTLE_MS);
  print('empty pool', await read(node.pid, inspector));
  await fill(count);
  await wait(SETTLE_MS);
  print(`${count} in the pool`, await read(node.pid, inspector));
  await inspector.evaluate(COLLECT);
  print('after a full collection', await read(node.pid, inspector));
  inspector.close();
  await stop();
}

async function start(set: readonly string[]) {
  const port = await freePort();
  const execArgv = [`--inspect=${port}`, values.flags];
  const funded = await makeFunded(bench, 'accepting', { roundMs: Number(values['round-ms']) });
  const accepting = await startAccepting(bench, { execArgv, set, funded });
  return { ...accepting, inspector: await openInspector(port) };
}

async function read(pid: number, inspector: Inspector): Promise<Reading> {
  const answers = await inspector.evaluate(READ_HEAP);
  return {
    rssMb: memoryOf(pid).rssMb,
    mappings: mappingsOf(pid),
    heaps: answers.filter((answer) => answer !== undefined) as Heap[],
  };
}

function print(title: string, { rssMb, mappings, heaps }: Reading): void {
  say(`${title}: ${rssMb.toFixed(0)} MB resident`);
  for (const [kind, mb] of Object.entries(mappings)) {
    say(`  ${kind.replace('Mb', '').padEnd(14)} ${mb.toFixed(1).padStart(6)}`);
  }
  for (const [i, { resident, used, buffers }] of heaps.entries()) {
    const spaces = Object.entries(resident)
      .filter(([, bytes]) => bytes > BYTES_PER_MB)
      .map(([name, bytes]) => `${name} ${inMb(bytes)} (${inMb(used[name])} used)`);
    const all = Object.values(resident).reduce((sum, bytes) => sum + bytes, 0);
    say(
      `  ${i === 0 ? 'main heap' : `heap ${i}`} ${inMb(all)}: ${spaces.join(', ')}; buffers ${inMb(buffers)}`,
    );
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function inMb(bytes = 0): string {
  return (bytes / BYTES_PER_MB).toFixed(1);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
