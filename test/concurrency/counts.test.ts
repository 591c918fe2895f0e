import t from 'tap';
import { Counts } from '../../src/concurrency/counts.ts';

t.test('what names have is added up and subtracted', async (t) => {
  const counts = new Counts<string>();
  t.equal(counts.of('a'), 0);
  counts.add('a', 1);
  counts.add('a', 2);
  counts.add('b', 1);
  t.strictSame([counts.of('a'), counts.of('b')], [3, 1]);
  counts.add('a', -3);
  t.strictSame([counts.of('a'), counts.of('b')], [0, 1]);
});
