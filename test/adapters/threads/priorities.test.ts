// Threads that check signatures give way to those that answer clients and make blocks.
import { execFileSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { PatternThread } from '../../../src/adapters/threads/pattern-thread.ts';
import { createVerifyThreads } from '../../../src/adapters/verify/signature-threads.ts';
import { family } from '../../family.ts';
import { niceValues } from '../../nice-values.ts';

t.test('threads that verify', { skip: process.platform !== 'linux' }, async (t) => {
  const verifier = createVerifyThreads(family, { threads: 1 });
  t.teardown(() => verifier.close());
  const own = getPriority();
  t.notOk(niceValues().includes(Math.min(19, own + 8)));
  const [key, signature] = [family.publicKeySize, family.signatureSize];
  await verifier.verifyOne(new Uint8Array(key), Uint8Array.of(1), new Uint8Array(signature));
  t.ok(niceValues().includes(Math.min(19, own + 8)));
  t.equal(getPriority(), own, 'this thread does not');
});

t.test('the thread that matches patterns', { skip: process.platform !== 'linux' }, async (t) => {
  const patterns = new PatternThread(
    new URL('../../../src/cli/workers/pattern-worker.ts', import.meta.url),
  );
  t.teardown(() => patterns.close());
  const givesWay = Math.min(19, getPriority() + 8);
  const before = niceValues().filter((nice) => nice === givesWay).length;
  await patterns.match('a', ['a'], 'one');
  t.equal(niceValues().filter((nice) => nice === givesWay).length, before + 1);
});

t.test('beside threads of connections', { skip: process.platform !== 'linux' }, async (t) => {
  const module = fileURLToPath(new URL('fixtures/priorities-process.ts', import.meta.url));
  const flags = ['--disable-warning=ExperimentalWarning', '--v8-pool-size=1'];
  const { before, after, nested, main, late } = JSON.parse(
    execFileSync(process.execPath, [...flags, module], { encoding: 'utf8' }),
  );
  const own = getPriority();
  const [ordering, background] = [Math.min(19, own + 8), Math.min(19, own + 14)];
  t.ok(before.every((nice: number) => nice === own));
  const unchanged = after.filter((nice: number) => nice === own);
  t.ok(unchanged.length > 1, 'the main thread and those of libuv do not give way at once');
  t.ok(after.includes(ordering), 'those of V8 do');
  t.strictSame(nested, { own, started: background }, 'a thread of connections does not');
  t.equal(main, ordering);
  t.equal(late, background, 'the steps do not add up');
});
