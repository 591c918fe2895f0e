/** Rows a, c, d, g and h with chains of several lengths, and how fast each of them grows. */
import type { Bench } from '../bench.ts';
import type { GeneratedChain } from '../chain/generate.ts';
import { keptChain } from '../chain/kept-chains.ts';
import { acceptedSeries } from '../growth/accepted.ts';
import { importSeries } from '../growth/imported.ts';
import { readSeries } from '../growth/reads.ts';
import { exponentOf, logarithmicGrowth, sizeName } from '../growth/series.ts';
import { diskSeries, startSeries } from '../growth/size-and-start.ts';
import { atMost, type Figure, number, type RowResult, type Series } from '../report/result.ts';

/** What the noise of a row may add. */
const TOLERANCE = 1.1;

export async function growth(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const chains: GeneratedChain[] = [];
  for (const transfers of bench.sizes.toSorted((a, b) => a - b)) {
    chains.push(await keptChain(bench.chains, transfers, bench.say));
  }
  const series = [
    ...(await acceptedSeries(bench, chains, notes)),
    ...(await importSeries(bench, chains, notes)),
    ...(await readSeries(bench, chains, notes)),
    diskSeries(chains),
    await startSeries(bench, chains, notes),
  ];
  const hot = series.filter(({ isHotPath }) => isHotPath);
  return {
    row: 'growth',
    title: 'growth',
    figures: series.flatMap(figuresOf),
    goals: hot.map(({ name, points }) => ({
      level: 'Good',
      conditions: [
        atMost(
          TOLERANCE * logarithmicGrowth(points),
          points.at(-1)?.cost,
          `times, as log n (${name})`,
        ),
      ],
    })),
    notes: [...new Set(notes)],
    series,
  };
}

const figuresOf = ({ name, points }: Series): Figure[] =>
  points.map(({ transfers, value, cost, against, ratio }, i) => ({
    what: `${name}, ${sizeName(transfers)}`,
    value: i === 0 ? value : `${value}; cost × ${number(cost)}${growthOf(points, i)}`,
    ...(against === undefined ? {} : { against }),
    ratio,
  }));

const growthOf = (points: Series['points'], i: number): string =>
  i === points.length - 1 ? `, as n^${exponentOf(points).toFixed(2)}` : '';
