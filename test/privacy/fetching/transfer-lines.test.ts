import t from 'tap';
import { type Kind, TransferLines } from '../../../src/privacy/fetching/transfer-lines.ts';

interface Job {
  readonly kind: Kind;
}

function lines(parallelism: number, counts: Partial<Record<Kind, number>>) {
  const all = new TransferLines<Job>(parallelism);
  for (const [kind, count] of Object.entries(counts) as [Kind, number][]) {
    for (let i = 0; i < count; i++) all.add({ kind });
  }
  return all;
}

/** How many of each kind begin before the next has to wait. */
function begun(all: TransferLines<Job>): Record<Kind, number> {
  const counts = { new: 0, pending: 0, lost: 0 };
  for (let job = all.begin(); job !== undefined; job = all.begin()) counts[job.kind] += 1;
  return counts;
}

t.test('old items leave room for new ones', async (t) => {
  t.strictSame(begun(lines(8, { new: 20 })), { new: 8, pending: 0, lost: 0 });
  t.strictSame(begun(lines(8, { pending: 20, lost: 20 })), { new: 0, pending: 4, lost: 2 });
  t.strictSame(begun(lines(8, { lost: 9, pending: 9, new: 3 })), { new: 3, pending: 4, lost: 1 });
  t.strictSame(begun(lines(1, { lost: 2 })), { new: 0, pending: 0, lost: 1 }, 'at least one');
});

t.test('a transfer counts until it is over', async (t) => {
  const all = lines(2, { new: 4, pending: 1 });
  t.strictSame(begun(all), { new: 2, pending: 0, lost: 0 });
  t.equal(all.transfers, 2);
  all.finish('new');
  t.equal(all.transfers, 1);
  t.strictSame(begun(all), { new: 1, pending: 0, lost: 0 });
});

t.test('each in its turn, without those that are removed', async (t) => {
  const all = new TransferLines<Job & { readonly name: string }>(5);
  const jobs = ['a', 'b', 'c'].map((name) => ({ kind: 'new' as const, name }));
  for (const job of jobs) all.add(job);
  all.remove(jobs[1]!);
  t.strictSame([all.begin()?.name, all.begin()?.name, all.begin()], ['a', 'c', undefined]);
});
