/**
 * `npm run bench:short [-- --accept]`: a few ratios in about a minute, for the build server. It
 * fails only where a ratio is less than half of the accepted one (results.json).
 *
 * The ratios are of processor time, measured in the same round, and the best round counts: what
 * else runs on the machine then changes them by far less than half. A ratio that fails is measured
 * once more.
 *
 * Reads stand beside S, which reads a store too, and not beside H. The code of a transaction by its
 * id is more than the second cache of a processor holds, and what other machines do to the shared
 * cache then costs it much and H little: beside H it took 2.4 times as much in one hour as in another.
 *
 * Import and accepted transfers count all processes, the load included, and the packing of the last
 * block; reads count the servers alone, since their load never sleeps.
 */
import { parseArgs } from 'node:util';
import { type Bench, createBench } from './bench.ts';
import { generateChain } from './chain/generate.ts';
import { exportChain, importer } from './chain/importer.ts';
import { startEcho } from './denominators/hyper-express.ts';
import { startLibsodium } from './denominators/libsodium.ts';
import type { Contender, Sample } from './measure/contender.ts';
import type { Rounds } from './measure/rounds.ts';
import { startAccepting } from './node/accepting.ts';
import { startNode } from './node/node-process.ts';
import { acceptShort, readAccepted } from './report/accepted-run.ts';
import { number } from './report/result.ts';
import { readers } from './rows/readers.ts';

const TRANSFERS = 30_000;
const ROUNDS = 3;
/** A run of reads is of some thousand equal answers. */
const READS_MS = 750;
const FILE = 'bench/short.ts';

const { values } = parseArgs({ options: { accept: { type: 'boolean', default: false } } });
const begun = performance.now();
const bench = createBench({ quick: true, evenBusy: true, sizes: [] });
async function run(): Promise<void> {
  const first = await measured();
  if (values.accept) {
    acceptShort(first);
    bench.say(lines(first, {}).join('\n'));
    return;
  }
  const { short } = readAccepted();
  const second = failedOf(first, short).length === 0 ? first : better(first, await measured());
  const failed = failedOf(second, short).length;
  const passed = Object.keys(short).length - failed;
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  // One line as scripts/test.ts prints it, which .ci/summary counts.
  const counts = `${passed} passed, ${failed} failed, 0 skipped (${seconds} s)`;
  const verdict = failed === 0 ? 'ok  ' : 'FAIL';
  process.stdout.write(`${verdict} ${FILE}: ${counts}\n${lines(second, short).join('\n')}\n`);
  if (failed > 0) process.exitCode = 1;
}

type Ratios = Readonly<Record<string, number>>;

async function measured(): Promise<Ratios> {
  return { ...(await ofChain(bench)), ...(await ofAccepted(bench)) };
}

/** Import beside signature checks, and reads beside a server with a store. */
async function ofChain(bench: Bench): Promise<Ratios> {
  const chain = await generateChain(bench.folder('short'), TRANSFERS);
  const file = await exportChain(chain.folder);
  const libsodium = startLibsodium();
  const imports = [
    importer(bench, chain.folder, file, { name: 'c1' }),
    importer(bench, chain.folder, file, { name: 'c2', flags: ['--trusted'] }),
    libsodium.one,
  ];
  const imported = await inRounds(imports, false);
  await libsodium.stop();
  const node = await startNode(chain.folder);
  const echo = await startEcho(bench.load);
  const read = await inRounds([...readers(bench, node, chain), echo.stored], true, READS_MS);
  await Promise.all([node.stop(), echo.stop()]);
  return {
    'c1 per V1': best(imported, 'c1', 'V1'),
    'c2 per V1': best(imported, 'c2', 'V1'),
    'd balance per S': best(read, 'balance', 'S'),
    'd transaction per S': best(read, 'transaction', 'S'),
    'd header per S': best(read, 'header', 'S'),
  };
}

async function ofAccepted(bench: Bench): Promise<Ratios> {
  const node = await startAccepting(bench);
  const echo = await startEcho(bench.load);
  const rounds = await inRounds([node.accepted, echo.post], true);
  await Promise.all([node.stop(), echo.stop()]);
  return { 'a per E': best(rounds, node.accepted.name, 'E') };
}

const inRounds = (all: readonly Contender[], warmUp: boolean, ms?: number): Promise<Rounds> =>
  bench.measure(all, [], { rounds: ROUNDS, warmUp, ...(ms !== undefined && { ms }) });

/** The highest ratio of all rounds: processor time of the denominator by that of the node. */
function best(rounds: Rounds, name: string, of: string): number {
  const costs = (contender: string): (number | undefined)[] =>
    (rounds.samples.get(contender) ?? []).map((sample?: Sample) => sample?.costPerOperation);
  const others = costs(of);
  return Math.max(...costs(name).map((own, i) => (others[i] ?? 0) / (own ?? Infinity)));
}

const better = (a: Ratios, b: Ratios): Ratios =>
  Object.fromEntries(
    Object.entries(a).map(([name, ratio]) => [name, Math.max(ratio, b[name] ?? 0)]),
  );

const failedOf = (ratios: Ratios, accepted: Ratios): string[] =>
  Object.keys(accepted).filter((name) => !((ratios[name] ?? 0) >= accepted[name]! / 2));

function lines(ratios: Ratios, accepted: Ratios): string[] {
  const failed = failedOf(ratios, accepted);
  return Object.entries(ratios).map(([name, ratio]) => {
    const mark = failed.includes(name) ? '✗' : '✓';
    const before = accepted[name] === undefined ? '' : `, accepted ${number(accepted[name])}`;
    return `  ${mark} ${name}: ${number(ratio)}${before}`;
  });
}

try {
  await run();
} finally {
  await bench.close();
}
