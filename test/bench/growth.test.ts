// What row `growth` of the benchmark calculates and draws (bench/growth, bench/report).
import t from 'tap';
import { exponentOf, logarithmicGrowth } from '../../bench/growth/series.ts';
import { growthSentence } from '../../bench/report/accepted-run.ts';
import { growthPicture } from '../../bench/report/growth-picture.ts';
import type { Series } from '../../bench/report/result.ts';

const series = (name: string, costs: readonly number[]): Series => ({
  name,
  isHotPath: true,
  points: costs.map((cost, i) => {
    const transfers = 10_000 * 10 ** i;
    return { transfers, value: `${cost}`, cost, low: cost, high: cost };
  }),
});
const flat = series('flat & <same>', [1, 1, 1, 1]);
const linear = series('linear', [1, 10, 100, 1000]);
const root = series('root', [1, 10 ** 0.5, 10, 10 ** 1.5]);

t.test('the exponent of a fit', async (t) => {
  t.equal(exponentOf(flat.points), 0);
  t.equal(exponentOf(linear.points).toFixed(6), '1.000000');
  t.equal(exponentOf(root.points).toFixed(6), '0.500000');
  t.equal(exponentOf(flat.points.slice(0, 1)), 0, 'one length says nothing');
  t.equal(logarithmicGrowth(flat.points).toFixed(2), '1.75');
});

t.test('the sentence', async (t) => {
  const sentence = growthSentence([flat, root]);
  t.match(sentence, 'From 10,000 to 10,000,000 transfers');
  t.match(sentence, 'root 31.6 times (n^0.50)');
});

t.test('the picture', async (t) => {
  const picture = growthPicture([flat, linear, root], 'a < b');
  t.match(picture, '<title>a &lt; b</title>');
  t.match(picture, 'flat &amp; &lt;same&gt;: × 1.00, n^0.00');
  t.notMatch(picture, /NaN|Infinity|undefined/);
  t.notMatch(growthPicture([series('one', [1])], ''), /NaN|Infinity|undefined/);
  const labels = [...picture.matchAll(/class="f\d" x="628" y="([\d.]+)"/g)].map(([, y]) =>
    Number(y),
  );
  labels.sort((a, b) => a - b);
  t.equal(labels.length, 3);
  t.ok(
    labels.every((y, i) => i === 0 || y - labels[i - 1]! >= 20),
    'labels do not overlap',
  );
});
