/**
 * `npm run bench`: measures the rows of docs/performance.md beside their denominators.
 *
 *   npm run bench -- [ROW …] [--quick] [--json] [--even-busy] [--accept] [--profile DIR]
 *                    [--chains FOLDER] [--sizes 10k,100k,1m,10m]
 *
 * A run of all rows at its end, and one with `--accept` after each row, replaces what the
 * repository keeps: results.json, the tables of performance.md, the picture and the sentence about
 * growth. Growth up to a longer chain stays unless the row is named.
 */
import { parseArgs } from 'node:util';
import { type Bench, createBench } from './bench.ts';
import { SIZES } from './chain/kept-chains.ts';
import { acceptRows } from './report/accepted-run.ts';
import type { RowResult } from './report/result.ts';
import { table } from './report/table.ts';

const rows: Record<string, (bench: Bench) => Promise<RowResult>> = {
  a: async (bench) => (await import('./rows/accepted.ts')).accepted(bench),
  b: async (bench) => (await import('./rows/committed.ts')).committed(bench),
  c: async (bench) => (await import('./rows/import.ts')).imported(bench),
  mixed: async (bench) => (await import('./rows/mixed.ts')).mixed(bench),
  d: async (bench) => (await import('./rows/reads.ts')).reads(bench),
  e: async (bench) => (await import('./rows/latency.ts')).latency(bench),
  e2: async (bench) => (await import('./rows/final.ts')).final(bench),
  f: async (bench) => (await import('./rows/private.ts')).privateData(bench),
  history: async (bench) => (await import('./rows/history.ts')).history(bench),
  g: async (bench) => (await import('./rows/disk.ts')).disk(bench),
  h: async (bench) => (await import('./rows/start.ts')).start(bench),
  i: async (bench) => (await import('./rows/memory.ts')).memory(bench),
  j: async (bench) => (await import('./rows/contracts.ts')).contracts(bench),
  k: async (bench) => (await import('./rows/cores.ts')).cores(bench),
  loop: async (bench) => (await import('./rows/loop.ts')).loop(bench),
  block: async (bench) => (await import('./rows/block.ts')).block(bench),
  sync: async (bench) => (await import('./rows/sync.ts')).sync(bench),
  family: async (bench) => (await import('./rows/family.ts')).families(bench),
  scripts: async (bench) => (await import('./rows/scripts.ts')).scripted(bench),
  crawl: async (bench) => (await import('./rows/data.ts')).crawl(bench),
  growth: async (bench) => (await import('./rows/growth.ts')).growth(bench),
  search: async (bench) => (await import('./rows/search.ts')).search(bench),
  'search-growth': async (bench) => (await import('./rows/search.ts')).searchGrowth(bench),
  events: async (bench) => (await import('./rows/events.ts')).events(bench),
  help: async (bench) => (await import('./rows/help.ts')).help(bench),
};

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    'even-busy': { type: 'boolean', default: false },
    accept: { type: 'boolean', default: false },
    profile: { type: 'string' },
    chains: { type: 'string' },
    sizes: { type: 'string' },
  },
  allowPositionals: true,
});
const names = positionals.length === 0 ? Object.keys(rows) : positionals;
const unknown = names.filter((name) => rows[name] === undefined);
if (unknown.length > 0) {
  process.stderr.write(`no row ${unknown.join(', ')}; there are ${Object.keys(rows).join(', ')}\n`);
  process.exit(2);
}
// Signing and writing 10 million transfers takes ten minutes and 4 GB, so they are asked for.
const wanted = (values.sizes ?? (values.quick ? '10k,100k' : '10k,100k,1m')).split(',');
if (wanted.some((size) => !(size in SIZES))) {
  process.stderr.write(`sizes are ${Object.keys(SIZES).join(', ')}\n`);
  process.exit(2);
}

const bench = createBench({
  quick: values.quick,
  evenBusy: values['even-busy'],
  profile: values.profile,
  chains: values.chains,
  sizes: wanted.map((size) => SIZES[size as keyof typeof SIZES]),
});
const acceptance = { names: Object.keys(rows), replacesLonger: positionals.includes('growth') };
const accept = (results: readonly RowResult[]): void => acceptRows(results, acceptance);
const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
const results: RowResult[] = [];
try {
  for (const name of names) {
    bench.say(`row ${name}`);
    const from = performance.now();
    try {
      const result = await rows[name]!(bench);
      results.push(result);
      // A run takes an hour, and one that is interrupted has still shown its first rows.
      bench.say(`${table([result])}row ${name} took ${seconds(performance.now() - from)}\n`);
      if (values.accept) accept([result]);
    } catch (error) {
      // The other rows are worth as much as before.
      bench.say(`row ${name} failed: ${error instanceof Error ? error.stack : String(error)}`);
      process.exitCode = 1;
    }
  }
} finally {
  await bench.close();
}
process.stdout.write(values.json ? `${JSON.stringify(results, null, 2)}\n` : table(results));
const isWhole = positionals.length === 0 && !values.quick && process.exitCode === undefined;
if (isWhole && !values.accept) accept(results);
