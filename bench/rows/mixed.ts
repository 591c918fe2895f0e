/** mixed: import of blocks that hold transactions of every type, beside that of transfers alone. */
import type { Bench } from '../bench.ts';
import { generateChain } from '../chain/generate.ts';
import { exportChain, importer } from '../chain/importer.ts';
import { generateMixed } from '../chain/mixed.ts';
import { costRatioOf, figureOf, ratioOf } from '../measure/rounds.ts';
import { perSecond, type RowResult, ratioAtLeast } from '../report/result.ts';

const TRANSACTIONS = { full: 100_000, quick: 20_000 };

export async function mixed(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const count = TRANSACTIONS[bench.quick ? 'quick' : 'full'];
  const { folder: plain } = await generateChain(bench.folder('plain'), count);
  const { folder: all } = await generateMixed(bench.folder('mixed'), count);
  const contenders = [
    importer(bench, all, await exportChain(all), { name: 'mixed' }),
    importer(bench, plain, await exportChain(plain), { name: 'transfers' }),
  ];
  const rounds = await bench.measure(contenders, notes);
  const rate = (name: string) => perSecond(figureOf(rounds, name, (sample) => sample.perSecond));
  const cpu = (name: string): string => {
    const each = figureOf(rounds, name, (sample) => sample.cpuPerOperation);
    return each === undefined ? 'not measured' : `${(each.median * 1e6).toFixed(0)} µs each`;
  };
  const ratio = ratioOf(rounds, 'mixed', 'transfers');
  return {
    row: 'mixed',
    title: 'import of all types',
    figures: [
      {
        what: 'all types, as in bench/mix.json',
        value: rate('mixed'),
        against: `transfers ${rate('transfers')}`,
        ratio,
        perCpu: costRatioOf(rounds, 'mixed', 'transfers'),
      },
      { what: 'processor time', value: cpu('mixed'), against: `transfers ${cpu('transfers')}` },
    ],
    goals: [{ level: 'Good', conditions: [ratioAtLeast(0.7, ratio, 'of transfers')] }],
    notes,
  };
}
