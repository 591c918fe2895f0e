/** What comes in one turn of the event loop is handled together. */
import t from 'tap';
import { Batcher } from '../../src/concurrency/batcher.ts';

/** An event loop that turns when the test says so. */
function eventLoop() {
  let due: (() => void)[] = [];
  return {
    later: (run: () => void) => void due.push(run),
    turn() {
      const now = due;
      due = [];
      for (const run of now) run();
      return now.length;
    },
  };
}

t.test('once for all that asked in a turn, and again in the next', async (t) => {
  const { later, turn } = eventLoop();
  const handled: string[][] = [];
  let waiting: string[] = [];
  const batcher = new Batcher(() => {
    handled.push(waiting);
    waiting = [];
  }, later);
  const add = (name: string): void => {
    waiting.push(name);
    batcher.ask();
  };
  t.equal(turn(), 0, 'nobody asked');
  for (const name of ['a', 'b', 'c']) add(name);
  t.strictSame(handled, []);
  t.equal(turn(), 1);
  add('d');
  t.equal(turn(), 1);
  t.equal(turn(), 0);
  t.strictSame(handled, [['a', 'b', 'c'], ['d']]);
});

t.test('asked while it handles, or after a failure, it handles in the next turn', async (t) => {
  const { later, turn } = eventLoop();
  let calls = 0;
  const batcher: Batcher = new Batcher(() => {
    calls++;
    if (calls === 1) batcher.ask();
    if (calls === 2) throw new Error('failed');
  }, later);
  batcher.ask();
  turn();
  t.equal(calls, 1);
  t.throws(turn, { message: 'failed' });
  batcher.ask();
  turn();
  t.equal(calls, 3);
});

t.test('the event loop is that of the process where no other is named', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  new Batcher(resolve).ask();
  await t.resolves(promise);
});
