// The stack of started services.
import t from 'tap';
import { Disposal, DisposalError, DisposedError } from '../../src/base/disposal.ts';
import { StartError } from '../../src/base/faults/start-error.ts';

t.test('ends run in reverse order, one after the other, once', async (t) => {
  const stack = new Disposal();
  const seen: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    stack.add(name, async () => {
      seen.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(name);
    });
  }
  await Promise.all([stack.dispose(), stack.dispose()]);
  await stack.dispose();
  t.strictSame(seen, ['c begins', 'c', 'b begins', 'b', 'a begins', 'a']);
});

t.test('one that fails does not keep the others from running', async (t) => {
  const stack = new Disposal();
  const seen: string[] = [];
  stack.add('a', () => seen.push('a'));
  stack.add('b', () => Promise.reject(new Error('later')));
  stack.add('c', () => {
    throw new Error('at once');
  });
  stack.add('d', () => seen.push('d'));
  await t.rejects(stack.dispose(), new DisposalError('c: at once; b: later'));
  t.strictSame(seen, ['d', 'a']);
});

t.test('what starts during or after the end is ended, too', async (t) => {
  const stack = new Disposal();
  const seen: string[] = [];
  stack.add('a', async () => {
    t.throws(() => stack.add('b', () => seen.push('b')), DisposedError);
  });
  await stack.dispose();
  t.strictSame(seen, ['b']);
  t.throws(() => stack.add('c', () => seen.push('c')), DisposedError);
  await stack.dispose();
  t.strictSame(seen, ['b', 'c']);
});

t.test('a part that cannot start has one line', async (t) => {
  const line = (cause: unknown) => new StartError('thing', 'a.b', cause, 'do this').message;
  const coded = (code: string) => Object.assign(new Error(`${code}: x`), { code });
  t.equal(line(coded('EADDRINUSE')), 'thing (a.b): another process listens there; do this');
  const inner = new Error('cannot be read', { cause: coded('ENOENT') });
  t.equal(line(inner), 'thing (a.b): cannot be read: it does not exist; do this');
  const gathered = new AggregateError([coded('ECONNREFUSED')], '');
  t.match(line(gathered), 'nothing answers there (ECONNREFUSED)');
  t.equal(line(new Error('first\n at second')), 'thing (a.b): first; do this');
  t.equal(line('a text'), 'thing (a.b): a text; do this');
});
