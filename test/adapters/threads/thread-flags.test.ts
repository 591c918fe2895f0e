import t from 'tap';
import { threadFlags } from '../../../src/adapters/threads/thread-flags.ts';

t.test('threads load first what the process loaded first, and take no other flags', async (t) => {
  t.same(threadFlags(['--no-warnings', '--require', './cache.cjs', '--cpu-prof']), [
    '--require',
    './cache.cjs',
  ]);
  t.same(threadFlags(['--require=./cache.cjs', '--inspect']), ['--require=./cache.cjs']);
});

t.test('nothing was loaded first', async (t) => {
  t.same(threadFlags(['--no-warnings', '--inspect']), []);
  t.same(threadFlags(['--require']), []);
});
