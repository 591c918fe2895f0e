/**
 * `npm run bench:beside -- CHECKOUT [a] [c] [d] [j] [--without ID,…] [--transfers N] [--quick]`: the speed of this
 * checkout beside that of another one, in turn and by the same method, so that a change can be seen
 * although the machine is faster in one hour than in the next.
 *
 * Nodes, and what imports, are programs of each checkout; load, keys and chains are of this one. A
 * network is founded without the features `--without`, which the other checkout does not know. Chains of
 * rows c and d have a million transfers, or so many.
 *
 *   git worktree add ../before COMMIT && (cd ../before && npm ci)
 *   npm run bench:beside -- ../before
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { newNetworkFeatures } from '../src/tx/rules/features.ts';
import { createBench } from './bench.ts';
import { type GeneratedChain, generateChain } from './chain/generate.ts';
import { exportChain, importer, runImport } from './chain/importer.ts';
import { UNCHANGED } from './chain/kept-chains.ts';
import { benchEngine, ECHO_VALUE, echoImage } from './contracts/images.ts';
import type { Contender, Sample } from './measure/contender.ts';
import { figureOf, type Rounds, ratioOf } from './measure/rounds.ts';
import { fundedForLoad, startAccepting } from './node/accepting.ts';
import { type ContractNode, startContractNode } from './node/contract-node.ts';
import { startNode } from './node/node-process.ts';
import { perSecond, withUnit } from './report/result.ts';
import { readers } from './rows/readers.ts';

const { values, positionals } = parseArgs({
  options: {
    without: { type: 'string', default: '' },
    transfers: { type: 'string' },
    quick: { type: 'boolean', default: false },
    'even-busy': { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const [other, ...wanted] = positionals;
const measured = { a: accepted, c: imported, d: reads, j: calls };
const names = Object.keys(measured) as (keyof typeof measured)[];
const unknown = wanted.filter((name) => !(name in measured));
const isCount = /^[1-9]\d*$/.test(values.transfers ?? '1');
if (other === undefined || unknown.length > 0 || !isCount) {
  process.stderr.write(
    `name another checkout, rows of ${names.join(', ')}, and a number of transfers\n`,
  );
  process.exit(2);
}

/** This checkout first. */
const CHECKOUTS = [
  { label: 'this', checkout: undefined },
  { label: 'other', checkout: resolve(other) },
] as const;
type Side = (typeof CHECKOUTS)[number];

const TRANSFERS = { full: 1_000_000, quick: 30_000 };
const CALLS_MS = { full: 8000, quick: 3000 };
const CONTAINERS = 4;
const CALLS_PER_SECOND = 300;
const size = values.quick ? 'quick' : 'full';
const transfers = Number(values.transfers ?? TRANSFERS[size]);
const left = values.without.split(',').filter(Boolean).map(Number);
const features = newNetworkFeatures(false).filter((id) => !left.includes(id));
const bench = createBench({ quick: values.quick, evenBusy: values['even-busy'], sizes: [] });
let chain: GeneratedChain | undefined;

try {
  for (const name of wanted.length === 0 ? names : (wanted as typeof names)) {
    bench.say(`row ${name}`);
    const notes: string[] = [];
    const lines = await measured[name](notes);
    process.stdout.write(`${[...lines, ...notes].map((line) => `${name}  ${line}`).join('\n')}\n`);
  }
} finally {
  await bench.close();
}

async function accepted(notes: string[]): Promise<string[]> {
  const nodes = await inTurn(async ({ checkout }) => {
    const funded = await fundedForLoad(bench, { features, checkout });
    return startAccepting(bench, { funded, checkout });
  });
  const rounds = await bench.measure(
    nodes.map(({ accepted }, i) => named(accepted, i)),
    notes,
  );
  await Promise.all(nodes.map((node) => node.stop()));
  return [
    compared(rounds, 'accepted'),
    compared(rounds, 'accepted', 'committed', (sample) => sample.committedPerSecond),
  ];
}

async function imported(notes: string[]): Promise<string[]> {
  const { folder } = await longChain();
  const file = await exportChain(folder);
  const contenders = (name: string, flags: readonly string[] = []): Contender[] =>
    CHECKOUTS.map(({ label, checkout }) =>
      importer(bench, folder, file, {
        name: `${name} ${label}`,
        flags,
        checkout,
      }),
    );
  const both = [...contenders('c1'), ...contenders('c2', ['--trusted'])];
  const rounds = await bench.measure(both, notes, { warmUp: false });
  return [compared(rounds, 'c1'), compared(rounds, 'c2')];
}

async function reads(notes: string[]): Promise<string[]> {
  const made = await longChain();
  const { folder } = made;
  const file = await exportChain(folder);
  const nodes = await inTurn(async ({ label, checkout }) => {
    const dir = bench.folder(label);
    const data = join(dir, 'data');
    // Each checkout has a store of its own format.
    await runImport([folder.config, file, data, '--trusted'], { checkout });
    const set = [UNCHANGED, `data-directory=${data}`];
    return startNode({ dir, config: folder.config }, { checkout, set });
  });
  const [own, their] = nodes.map((node, i) =>
    readers(bench, node, made).map((reader) => named(reader, i)),
  ) as [Contender[], Contender[]];
  // Whoever is compared runs one after the other.
  const contenders = own.flatMap((reader, i) => [reader, their[i]!]);
  const rounds = await bench.measure(contenders, notes);
  await Promise.all(nodes.map((node) => node.stop()));
  return ['balance', 'transaction', 'header'].map((name) => compared(rounds, name));
}

async function calls(notes: string[]): Promise<string[]> {
  const engine = await benchEngine();
  const nodes = await inTurn(async ({ checkout }) =>
    startContractNode(bench, engine, { roundMs: 1000, features, checkout }),
  );
  const contenders: Contender[] = [];
  for (const [i, node] of nodes.entries()) {
    const contracts: Uint8Array[] = [];
    for (let n = 0; n < CONTAINERS; n++) {
      contracts.push(await node.create(await echoImage(engine, n)));
    }
    contenders.push(named(node.calls('calls', contracts, ECHO_VALUE, CALLS_PER_SECOND), i));
  }
  const rounds = await bench.measure(contenders, notes, {
    ms: CALLS_MS[size],
    countsOthers: true,
  });
  await Promise.all(nodes.map((node: ContractNode) => node.stop()));
  return [compared(rounds, 'calls')];
}

async function longChain(): Promise<GeneratedChain> {
  if (chain === undefined) bench.say(`  making a chain of ${transfers} transfers`);
  chain ??= await generateChain(bench.folder('chain'), transfers, { features });
  return chain;
}

async function inTurn<T>(make: (side: Side) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (const side of CHECKOUTS) made.push(await make(side));
  return made;
}

function named(contender: Contender, i: number): Contender {
  return { ...contender, name: `${contender.name} ${CHECKOUTS[i]!.label}` };
}

/** One line: both rates, and their ratio within the rounds. */
function compared(
  rounds: Rounds,
  name: string,
  title = name,
  read: (sample: Sample) => number | undefined = (sample) => sample.perSecond,
): string {
  const [own, their] = CHECKOUTS.map(({ label }) => `${name} ${label}`);
  const rate = (of: string | undefined): string => perSecond(figureOf(rounds, of ?? '', read));
  const ratio = ratioOf(rounds, own ?? '', their ?? '', read);
  return `${title}: ${rate(own)} beside ${rate(their)}, ratio ${withUnit(ratio, '')}`;
}
