// How many transactions blocks take in a second (bench/node/headers.ts).
import t from 'tap';
import { committedPerSecond } from '../../../bench/node/headers.ts';

const block = (timestamp: number, transactionCount: number) => ({ timestamp, transactionCount });
const blocks = [block(900, 1), block(2000, 10), block(3000, 5000), block(4000, 7000)];

t.test('from the first block of the time to the last one', async (t) => {
  t.equal(committedPerSecond(blocks, 1500, 4500), 6000, 'the first itself does not count');
  t.equal(committedPerSecond(blocks, 1500, 3999), 5000, 'nor what comes after the time');
  const skipped = [block(1000, 10), block(4000, 9000)];
  t.equal(committedPerSecond(skipped, 0, 5000), 3000, 'a round without a block is time, too');
});

t.test('a single block shows no rate', async (t) => {
  t.equal(committedPerSecond(blocks, 3500, 4500), undefined);
  t.equal(committedPerSecond([], 0, 1), undefined);
});
