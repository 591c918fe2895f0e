import t from 'tap';
import { KeyedMutex } from '../../src/concurrency/keyed-mutex.ts';

t.test('one after the other under a key, even after a failure', async (t) => {
  const mutex = new KeyedMutex();
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const work = (name: string) => async (): Promise<string> => {
    seen.push(`${name} begins`);
    await gate.promise;
    seen.push(`${name} ends`);
    if (name === 'first') throw new Error('failed');
    return name;
  };
  const first = mutex.run('x', work('first'));
  const second = mutex.run('x', work('second'));
  const other = mutex.run('y', work('other'));
  await Promise.resolve();
  t.strictSame(seen, ['first begins', 'other begins'], 'another key does not wait');
  gate.resolve();
  await t.rejects(first, { message: 'failed' });
  t.strictSame([await second, await other], ['second', 'other']);
  t.ok(seen.indexOf('second begins') > seen.indexOf('first ends'));
});
