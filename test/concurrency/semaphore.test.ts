/** Places for work: how many, for how long one waits, and whose turn it is. */
import t from 'tap';
import { Semaphore } from '../../src/concurrency/semaphore.ts';
import { fakeClock } from '../node/fake-clock.ts';

t.test('a place within a time, or none', async (t) => {
  const clock = fakeClock(0);
  const places = new Semaphore(1);
  const release = await places.acquireWithin(clock, 1000);
  t.ok(release);
  const [early, late] = [places.acquireWithin(clock, 1000), places.acquireWithin(clock, 3000)];
  await clock.advance(1000);
  t.equal(await early, undefined);
  t.equal(places.waiting, 1, 'who has gone takes no place');
  release?.();
  release?.();
  const next = await late;
  t.ok(next);
  await clock.advance(3000);
  const last = places.acquire();
  t.equal(places.waiting, 1, 'once it has its place the time is over');
  next?.();
  t.ok(await last);
});

t.test('work that fails gives its place back', async (t) => {
  const places = new Semaphore(1);
  await t.rejects(
    places.run(async () => {
      throw new Error('failed');
    }),
    { message: 'failed' },
  );
  await t.rejects(
    places.run(() => {
      throw new Error('at once');
    }),
    { message: 'at once' },
  );
  const release = places.tryAcquire();
  t.ok(release);
  t.equal(places.tryAcquire(), undefined);
  release?.();
  release?.();
  t.ok(places.tryAcquire());
  t.equal(places.tryAcquire(), undefined, 'a place that is given back twice is one place');
});

t.test('owners take turns, and what waits is bounded', async (t) => {
  const places = new Semaphore(1, { inAll: 5, ofOwner: 3 });
  const overloaded = { entry: 'Overloaded', code: 503 };
  const began: string[] = [];
  const work = (name: string) => async () => void began.push(name);
  const release = places.tryAcquire();
  const all = ['a0', 'a1', 'a2'].map((name) => places.run(work(name), 'a'));
  await t.rejects(places.run(work('a3'), 'a'), overloaded, 'one owner');
  all.push(places.run(work('b0'), 'b'), places.run(work('c0'), 'c'));
  await t.rejects(places.run(work('d0'), 'd'), overloaded, 'all owners');
  t.equal(places.waiting, 5);
  release?.();
  await Promise.all(all);
  t.strictSame(began, ['a0', 'b0', 'c0', 'a1', 'a2']);
  t.equal(places.waiting, 0);
  await t.resolves(places.run(work('again'), 'a'));
});

t.test('many places, many owners: no more run than there are places', async (t) => {
  const places = new Semaphore(3);
  let [running, most, done] = [0, 0, 0];
  const work = async (): Promise<void> => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    done++;
  };
  await Promise.all(Array.from({ length: 50 }, (_, i) => places.run(work, `owner ${i % 7}`)));
  t.strictSame([most, done, places.waiting], [3, 50, 0]);
});

t.test('work may hold several places, and what comes later does not overtake it', async (t) => {
  const places = new Semaphore(10);
  const [six, three] = [places.tryAcquire(6), places.tryAcquire(3)];
  t.equal(places.tryAcquire(2), undefined);
  const began: string[] = [];
  const all = [8, 1, 1].map((held, i) =>
    places.run(async () => void began.push(`${i}`), `owner ${i}`, held),
  );
  t.equal(places.tryAcquire(), undefined, 'one is free, and others have waited for longer');
  three?.();
  await Promise.resolve();
  t.strictSame(began, [], 'eight are not free yet');
  six?.();
  await Promise.all(all);
  t.strictSame(began, ['0', '1', '2']);
  t.ok(places.tryAcquire(10));
});

t.test('without a line, what finds no place is refused', async (t) => {
  const bytes = new Semaphore(100, { inAll: 0 });
  const gate = Promise.withResolvers<void>();
  const first = bytes.run(() => gate.promise, undefined, 60);
  await t.rejects(
    bytes.run(async () => undefined, undefined, 41),
    { code: 503 },
  );
  t.equal(await bytes.run(async () => 'fits', undefined, 40), 'fits');
  gate.resolve();
  await first;
  t.equal(await bytes.run(async () => 'all', undefined, 100), 'all');
});
