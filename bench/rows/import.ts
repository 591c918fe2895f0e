/**
 * Rows c1 and c2: import of blocks from a file, with every check, and as blocks that were verified
 * before.
 */
import { rmSync } from 'node:fs';
import type { Bench } from '../bench.ts';
import { exportChain, importer } from '../chain/importer.ts';
import { startLibsodium } from '../denominators/libsodium.ts';
import { costRatioOf, figureOf, ratioOf } from '../measure/rounds.ts';
import { atLeast, perSecond, type RowResult, ratioAtLeast } from '../report/result.ts';
import { longChain } from './chain.ts';

/** An import of a million takes most of a minute. */
const LIBSODIUM_MS = { full: 10_000, quick: 1500 };

export async function imported(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const { folder, transfers } = await longChain(bench);
  const file = await exportChain(folder);
  const libsodium = startLibsodium();
  const contenders = [
    importer(bench, folder, file),
    libsodium.one,
    libsodium.two,
    importer(bench, folder, file, { name: 'trusted', flags: ['--trusted'] }),
  ];
  const rounds = await bench.measure(contenders, notes, {
    ms: LIBSODIUM_MS[bench.quick ? 'quick' : 'full'],
    // Each import is a new process.
    warmUp: false,
  });
  await libsodium.stop();
  // A folder of chains that stays has no need of it.
  rmSync(file);

  const rate = (name: string) => figureOf(rounds, name, (sample) => sample.perSecond);
  const cpu = (name: string): string => {
    const each = figureOf(rounds, name, (sample) => sample.cpuPerOperation);
    return each === undefined ? 'not measured' : `${(each.median * 1e6).toFixed(0)} µs each`;
  };
  const [v1, v2] = [ratioOf(rounds, 'import', 'V1'), ratioOf(rounds, 'import', 'V2')];
  const trusted = rate('trusted')?.median;
  return {
    row: 'c',
    title: 'import',
    figures: [
      {
        what: 'c1 import with all checks',
        value: perSecond(rate('import')),
        against: `V1 ${perSecond(rate('V1'))}`,
        ratio: v1,
        perCpu: costRatioOf(rounds, 'import', 'V1'),
      },
      { what: '', value: '', against: `V2 ${perSecond(rate('V2'))}`, ratio: v2 },
      { what: 'processor time', value: cpu('import') },
      { what: 'c2 import of verified blocks', value: perSecond(rate('trusted')) },
      { what: 'processor time', value: cpu('trusted') },
      { what: 'chain', value: `${transfers} transfers` },
    ],
    goals: [
      { level: 'Good', conditions: [ratioAtLeast(0.5, v1, 'V1')] },
      { level: 'Strong', conditions: [ratioAtLeast(0.8, v1, 'V1')] },
      { level: 'Moonshot', conditions: [ratioAtLeast(0.75, v2, 'V2')] },
      { level: 'Good', conditions: [atLeast(40_000, trusted, '/s (c2)')] },
      { level: 'Strong', conditions: [atLeast(80_000, trusted, '/s (c2)')] },
      { level: 'Moonshot', conditions: [atLeast(120_000, trusted, '/s (c2)')] },
    ],
    notes,
  };
}
