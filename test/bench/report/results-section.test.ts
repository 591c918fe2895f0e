// The tables of goals and results in docs/performance.md (bench/report).
import { readFileSync } from 'node:fs';
import t from 'tap';
import { readAccepted } from '../../../bench/report/accepted-run.ts';
import { atLeast, type Goal, type Level } from '../../../bench/report/result.ts';
import { goalSeen, goalsSection, resultsSection } from '../../../bench/report/results-section.ts';

const goal = (level: Level, bound: number, value: number | undefined): Goal => ({
  level,
  conditions: [atLeast(bound, value, 'A')],
});
const goalsOf = (value: number | undefined): Goal[] => [
  goal('Good', 1, value),
  goal('Strong', 1.5, value),
  goal('Moonshot', 2.2, value),
];

t.test('the level that is reached, and what the next one lacks', async (t) => {
  t.equal(goalSeen(goalsOf(0.9)), '**below Good: ≥ 1 A**');
  t.equal(goalSeen(goalsOf(1)), 'Good; Strong: ≥ 1.5 A');
  t.equal(goalSeen(goalsOf(3)), 'Moonshot');
  t.equal(goalSeen([]), '');
  t.equal(goalSeen(goalsOf(undefined)), '**below Good: ≥ 1 A**', 'what is open is not reached');
  t.equal(
    goalSeen([...goalsOf(3), goal('Good', 9, 5)]),
    '**below Good: ≥ 9 A**',
    'all goals of a level count',
  );
  t.equal(goalSeen([goal('Good', 1, 2)]), 'Good', 'rows may have one goal');
});

t.test('rows in their order, without details and rows that have a picture', async (t) => {
  const rows = [row('b'), { ...row('growth'), series: [] }, row('a'), row('gone')];
  t.same(resultsSection(rows, ['a', 'growth', 'b', 'c']).split('\n').slice(2), [
    '| a | accepted | 5/s | A 10/s | 0.5 (0.4–0.6) | Good; Strong: ≥ 1.5 A | 2026-01-02 `abc` |',
    '|  | p99: 3 ms |  |  |  |  |  |',
    '| b | accepted | 5/s | A 10/s | 0.5 (0.4–0.6) | Good; Strong: ≥ 1.5 A | 2026-01-02 `abc` |',
    '|  | p99: 3 ms |  |  |  |  |  |',
  ]);
  t.same(goalsSection(rows, ['a', 'growth', 'b', 'c']).split('\n'), [
    '| Row | What it measures | Good | Strong | Moonshot |',
    '| --- | --- | --- | --- | --- |',
    '| a | title of a | ≥ 1 A | ≥ 1.5 A | ≥ 2.2 A |',
    '| b | title of b | ≥ 1 A | ≥ 1.5 A | ≥ 2.2 A |',
  ]);
});

t.test('neighbours without a ratio share a line, in their order', async (t) => {
  const figures = [
    { what: 'idle', value: '1 MB' },
    { what: 'under load', value: '2 MB' },
    { what: '', value: 'half of it files' },
    { what: 'reads', value: '3/s', ratio: { median: 0.5, low: 0.4, high: 0.6, count: 5 } },
    { what: 'p99', value: '5 ms', against: 'H 4 ms' },
  ];
  t.same(
    resultsSection([{ ...row('i'), figures }], ['i'])
      .split('\n')
      .slice(2),
    [
      '| i | idle | 1 MB |  |  | Good; Strong: ≥ 1.5 A | 2026-01-02 `abc` |',
      '|  | under load: 2 MB; half of it files |  |  |  |  |  |',
      '|  | reads | 3/s |  | 0.5 (0.4–0.6) |  |  |',
      '|  | p99: 5 ms (H 4 ms) |  |  |  |  |  |',
    ],
  );
});

t.test('the page has the results that the repository keeps', async (t) => {
  const page = readFileSync(new URL('../../../docs/performance.md', import.meta.url), 'utf8');
  const part = (name: string) => page.split(`<!-- ${name} -->`)[1]?.split(`<!-- /${name} -->`)[0];
  const { rows } = readAccepted();
  const names = [...(part('goals') ?? '').matchAll(/^\| ([\w-]+) \|/gm)]
    .map(([, name = '']) => name)
    .slice(1)
    .filter((name) => name !== '---');
  const kept = rows.filter(({ series }) => series === undefined);
  t.same(names.toSorted(), kept.map(({ row }) => row).toSorted());
  t.equal(part('goals')?.trim(), goalsSection(rows, names));
  t.equal(part('results')?.trim(), resultsSection(rows, names));
});

function row(name: string) {
  const ratio = { median: 0.5, low: 0.4, high: 0.6, count: 5 };
  return {
    row: name,
    title: `title of ${name}`,
    goals: goalsOf(1),
    notes: [],
    measured: { date: '2026-01-02', commit: 'abc', processors: '', node: '' },
    figures: [
      { what: 'accepted', value: '5/s', against: 'A 10/s', ratio },
      { what: 'detail', value: '1', isDetail: true },
      { what: 'p99', value: '3 ms' },
    ],
  };
}
