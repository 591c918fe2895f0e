// A signal that may be asked for before the end, behind it, or never.
import t from 'tap';
import { LazyAbort } from '../../src/concurrency/lazy-abort.ts';

t.test('asked for before', async (t) => {
  const work = new LazyAbort();
  const { signal } = work;
  let heard = 0;
  signal.addEventListener('abort', () => heard++);
  t.strictSame([work.isAborted, signal.aborted], [false, false]);
  work.abort();
  work.abort();
  t.strictSame([work.isAborted, signal.aborted, heard], [true, true, 1]);
  t.equal(work.signal, signal);
});

t.test('asked for behind it', async (t) => {
  const work = new LazyAbort();
  work.abort();
  t.ok(work.isAborted);
  t.ok(work.signal.aborted);
});
