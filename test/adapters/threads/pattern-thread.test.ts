// Patterns in a thread: one that takes too long costs its own request and nothing else.
import t from 'tap';
import { PatternThread } from '../../../src/adapters/threads/pattern-thread.ts';
import { contractLimits } from '../../../src/base/limits/contract-limits.ts';
import { Rng } from '../../generators/random.ts';

const workerUrl = new URL('../../../src/cli/workers/pattern-worker.ts', import.meta.url);

function opened(scope: { teardown(action: () => unknown): void }, matchMs?: number) {
  const thread = new PatternThread(workerUrl, matchMs);
  scope.teardown(() => thread.close());
  return thread;
}

t.test('verdicts, and patterns that are none', async (t) => {
  const thread = opened(t);
  const { verdicts, size } = await thread.match('a.*', ['ab', 'ba', ''], 'one');
  t.same(verdicts, [true, false, false]);
  t.ok(size > 0);
  await t.rejects(thread.match('(', [], 'one'), { code: 629 });
  t.match(await thread.match('a', ['a'], 'one'), { verdicts: [true] });
});

t.test('ten thousand keys against an honest pattern', async (t) => {
  const thread = opened(t);
  let found = 0;
  for (let i = 0; i < 100; i++) {
    const keys = Array.from({ length: 100 }, (_, k) => `account_${i}_${k}_balance`);
    const { verdicts } = await thread.match('account_\\d+_7_(balance|name)', keys, 'one');
    found += verdicts.filter(Boolean).length;
  }
  t.equal(found, 100);
});

t.test('a list of keys that takes too long ends the thread, and others go on', async (t) => {
  const thread = opened(t, 500);
  // Ten times the time at least: an engine has to keep every place where the last letters may begin.
  const rng = new Rng(1);
  const key = (): string => Array.from({ length: 100 }, () => rng.pick(['a', 'b'])).join('');
  const dear = thread.match('[ab]*a[ab]{90}', Array.from({ length: 20_000 }, key), 'one');
  const other = thread.match('a', ['a'], 'another');
  await t.rejects(dear, { code: 413 });
  t.match(await other, { verdicts: [true] });
});

t.test('clients take turns, and each has few in the line', async (t) => {
  const thread = opened(t);
  const order: string[] = [];
  const ask = (client: string) => thread.match('a', ['a'], client).then(() => order.push(client));
  const all = Array.from({ length: 9 }, () => ask('one'));
  all.push(ask('another'));
  await t.rejects(thread.match('a', [], 'one'), { code: 503 });
  await Promise.all(all);
  t.ok(order.indexOf('another') < 3, order.join(' '));
  await thread.close();
  await t.rejects(thread.match('a', [], 'one'), { code: 503 });
});

t.test('of all clients together not many wait', async (t) => {
  const thread = opened(t);
  const ask = (client: number) => thread.match('a', ['a'], `client ${client}`);
  const all = Array.from({ length: 1 + contractLimits.patternsWaiting.value }, (_, i) => ask(i));
  await t.rejects(ask(all.length), { code: 503 });
  for (const { verdicts } of await Promise.all(all)) t.same(verdicts, [true]);
  t.match(await ask(all.length), { verdicts: [true] }, 'afterwards');
});

t.test('memory that a pattern takes has a limit, and others go on', async (t) => {
  const thread = new PatternThread(new URL('greedy-worker.ts', import.meta.url), 60_000);
  t.teardown(() => thread.close());
  t.match(await thread.match('10', [], 'one'), { verdicts: [true] });
  await t.rejects(thread.match('300', [], 'one'), { code: 503 });
  t.match(await thread.match('10', [], 'one'), { verdicts: [true] });
});
