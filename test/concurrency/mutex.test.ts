/** One job at a time, in order; a failure is that of its own caller. */
import t from 'tap';
import { Mutex } from '../../src/concurrency/mutex.ts';

t.test('jobs run one after the other, also behind one that fails', async (t) => {
  const mutex = new Mutex();
  const seen: string[] = [];
  const gates = ['a', 'b', 'c'].map((name) => ({ name, ...Promise.withResolvers<void>() }));
  const results = gates.map(({ name, promise }) =>
    mutex.run(async () => {
      seen.push(`${name} begins`);
      await promise;
      seen.push(`${name} ends`);
      return name;
    }),
  );
  let isIdle = false;
  const idle = mutex.idle().then(() => {
    isIdle = true;
  });
  gates[1]!.reject(new Error('failed'));
  await gates[1]!.promise.catch(() => undefined);
  t.strictSame(seen, ['a begins'], 'the second waits for the first');
  gates[0]!.resolve();
  await t.rejects(results[1]!, { message: 'failed' });
  t.notOk(isIdle);
  gates[2]!.resolve();
  t.strictSame([await results[0], await results[2]], ['a', 'c']);
  t.strictSame(seen, ['a begins', 'a ends', 'b begins', 'c begins', 'c ends']);
  await idle;
});

t.test('a job that throws before its first await is a failure like any other', async (t) => {
  const mutex = new Mutex();
  const failed = mutex.run(() => {
    throw new Error('at once');
  });
  await t.rejects(failed, { message: 'at once' });
  t.equal(await mutex.run(async () => 1), 1);
});
