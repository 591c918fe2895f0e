import t from 'tap';
import { InTurn } from '../../src/privacy/in-turn.ts';

t.test('one after the other under a name, even after a failure', async (t) => {
  const inTurn = new InTurn();
  const seen: string[] = [];
  const work = (name: string) => async (): Promise<string> => {
    seen.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(`${name} ends`);
    if (name === 'first') throw new Error('failed');
    return name;
  };
  const first = inTurn.run('x', work('first'));
  const second = inTurn.run('x', work('second'));
  const other = inTurn.run('y', work('other'));
  await t.rejects(first, { message: 'failed' });
  t.strictSame([await second, await other], ['second', 'other']);
  t.ok(seen.indexOf('second begins') > seen.indexOf('first ends'));
  t.ok(seen.indexOf('other begins') < seen.indexOf('first ends'), 'another name does not wait');
});
