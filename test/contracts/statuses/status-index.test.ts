// The index of status records: limits on records, bytes, time and repetition, and who makes room.
import t from 'tap';
import {
  KEPT_MAX,
  type StatusFacts,
  StatusIndex,
  TAKEN_MAX,
} from '../../../src/contracts/statuses/status-index.ts';

let count = 0;
const mark = (fields: Partial<StatusFacts> = {}): StatusFacts => ({
  txId: `tx ${++count}`,
  hash: `hash ${count}`,
  sender: 'honest',
  status: 'Success',
  isRefusal: fields.status === 'Error',
  contractId: undefined,
  bytes: 200,
  takenAt: 0,
  ...fields,
});

const limits = { recordsMax: 1_000, bytesMax: 1_000_000, keepMs: 60_000 };

t.test('a sender that floods drives out its own records only', async (t) => {
  const index = new StatusIndex(limits);
  const honest = Array.from({ length: 100 }, () => mark());
  for (const one of honest) index.add(one);
  let gone = 0;
  for (let i = 0; i < 50_000; i++) gone += index.add(mark({ sender: 'flood' })).length;
  t.equal(index.size, 1_000);
  t.equal(gone, 49_100);
  t.ok(
    honest.every(({ txId, hash }) => index.has(txId, hash)),
    'those of the other are all there',
  );

  const large = new StatusIndex(limits);
  for (const one of honest) large.add(one);
  for (let i = 0; i < 1_000; i++) large.add(mark({ sender: 'flood', bytes: 5_000 }));
  t.ok(large.size <= 100 + 980_000 / 5_000, 'bytes are limited too');
  t.ok(honest.every(({ txId, hash }) => large.has(txId, hash)));
});

t.test(
  'of what a sender repeats the newest remain, and at some point nothing is taken',
  async (t) => {
    const index = new StatusIndex(limits);
    const failures = Array.from({ length: TAKEN_MAX }, () =>
      mark({ txId: 'x', status: 'Failure' }),
    );
    for (const one of failures) {
      t.notOk(index.isRepeated('x', 'honest', 'Failure'));
      index.add(one);
    }
    t.match(index.of('x'), failures.slice(-KEPT_MAX));
    t.equal(index.of('x').length, KEPT_MAX);
    t.ok(index.isRepeated('x', 'honest', 'Failure'));
    t.notOk(index.isRepeated('x', 'honest', 'Success'), 'another status is news');
    t.notOk(index.isRepeated('x', 'another', 'Failure'), 'and so is another sender');
    t.equal(index.size, KEPT_MAX);
  },
);

t.test('records leave after their time, a limited number at once', async (t) => {
  const index = new StatusIndex(limits);
  for (let i = 0; i < 10; i++) index.add(mark({ takenAt: i }));
  t.equal(index.expire(60_000, 100).length, 0);
  t.equal(index.expire(65_000, 3).length, 3);
  t.equal(index.expire(65_000, 100).length, 2);
  t.equal(index.expire(200_000, 100).length, 5);
  t.equal(index.size, 0);
});

t.test('errors by sender, failures by contract', async (t) => {
  const index = new StatusIndex(limits);
  index.add(mark({ txId: 'x', sender: 'a', status: 'Error', contractId: 'c' }));
  index.add(mark({ txId: 'x', sender: 'a', status: 'Error', contractId: 'c' }));
  index.add(mark({ txId: 'x', sender: 'b', status: 'Failure', contractId: 'c' }));
  index.add(mark({ txId: 'y', sender: 'b', status: 'Success', contractId: 'c' }));
  t.strictSame([...index.refusedTransactions()], ['x']);
  t.match(index.refusalsOf('x'), [
    { sender: 'a', saidFrom: 0, repeats: 0 },
    { sender: 'a', saidFrom: 0, repeats: 1 },
  ]);
  const failures = index.failuresOf('c', 2);
  t.match(failures, [{ sender: 'b' }, { sender: 'a' }], 'the newest first, without successes');
  index.expire(100_000, 100);
  t.strictSame([...index.refusedTransactions()], []);
  t.strictSame(index.failuresOf('c', 2), []);
});
