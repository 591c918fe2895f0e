import t from 'tap';
import { leastUrgent } from '../../../src/privacy/fetching/eviction.ts';

const job = (policy: number, due: number) => ({
  item: { policyId: new Uint8Array(32).fill(policy), hash: new Uint8Array(32).fill(due) },
  due,
});

t.test('the last of the longest policies give way', async (t) => {
  const jobs = [job(1, 3), job(2, 90), job(1, 1), job(3, 80), job(1, 2), job(2, 4)];
  const of = (count: number) =>
    leastUrgent(jobs, count).map(({ item, due }) => [item.policyId[0], due]);
  t.strictSame(of(0), []);
  t.strictSame(of(3), [
    [1, 3],
    [2, 90],
    [1, 2],
  ]);
  t.equal(of(10).length, 6);
});
