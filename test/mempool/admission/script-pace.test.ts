// Scripts of arriving transactions: who waits, for how long, and in which order.
import t from 'tap';
import {
  SCRIPTS_WAITING_MAX,
  ScriptPace,
  SENDER_WAITING_MAX,
} from '../../../src/mempool/admission/script-pace.ts';

/** A pace whose scripts take the time that the test says; `rest` is the one that is due. */
function setUp() {
  const at = { now: 0, rest: undefined as { ms: number; end: () => void } | undefined };
  const pace = new ScriptPace({
    monotonic: () => at.now,
    after(ms, end) {
      at.rest = { ms, end };
      return () => undefined;
    },
  });
  const done: string[] = [];
  const script = (ms: number) => () => {
    at.now += ms;
  };
  /** A transaction of this sender whose scripts take these times. */
  const submitBy = async (sender: string, name: string, ...times: number[]): Promise<void> =>
    pace.pass(sender, (run) => {
      for (const ms of times) run(script(ms));
      done.push(name);
    });
  /** Each of its own sender. */
  const submit = (name: string, ...times: number[]) => submitBy(name, name, ...times);
  const endRest = (): number => {
    const { ms, end } = at.rest!;
    at.rest = undefined;
    end();
    return ms;
  };
  return { at, pace, done, submit, submitBy, endRest };
}

t.test('scripts run at once until a piece of time is over', async (t) => {
  const { at, done, submit, endRest } = setUp();
  for (const name of ['a', 'b', 'c']) await submit(name, 0.9);
  t.same(done, ['a', 'b', 'c']);
  const waits = submit('d', 0.1);
  await submit('without a script');
  t.same(done, ['a', 'b', 'c', 'without a script']);
  t.ok(Math.abs(at.rest!.ms - 2.7) < 1e-9, 'the rest is as long as the scripts have taken');
  endRest();
  await waits;
  t.equal(done.at(-1), 'd');
});

t.test('those in line go in order, and rests come between them', async (t) => {
  const { at, done, submit, endRest } = setUp();
  await submit('a', 30);
  const waiting = ['b', 'c', 'd'].map((name) => submit(name, 20));
  t.same(done, ['a']);
  t.equal(endRest(), 30);
  t.same(done, ['a', 'b']);
  const later = submit('e', 1);
  t.equal(endRest(), 20);
  t.same(done, ['a', 'b', 'c']);
  endRest();
  endRest();
  t.same(done, ['a', 'b', 'c', 'd', 'e']);
  t.equal(at.rest, undefined, 'a millisecond is no piece yet');
  await Promise.all([...waiting, later]);
});

t.test('a transaction with several scripts is not cut', async (t) => {
  const { done, submit } = setUp();
  await submit('order, matcher and asset', 20, 20, 20);
  t.same(done, ['order, matcher and asset']);
});

t.test('the one that throws has taken time, too', async (t) => {
  const { at, pace } = setUp();
  const refusal = new Error('refused by the script');
  const pass = async () =>
    pace.pass('sender', (run) =>
      run(() => {
        at.now += 5;
        throw refusal;
      }),
    );
  await t.rejects(pass(), refusal);
  t.equal(at.rest?.ms, 5);
});

t.test('a full line refuses, and a place in it can be had again', async (t) => {
  const { done, submit, endRest } = setUp();
  await submit('first', 2);
  const waiting = Array.from({ length: SCRIPTS_WAITING_MAX }, (_, i) => submit(`${i}`, 2));
  await t.rejects(submit('one too many', 2), { entry: 'Overloaded', code: 503 });
  endRest();
  const again = submit('again', 2);
  for (let i = 0; i < SCRIPTS_WAITING_MAX; i++) endRest();
  await Promise.all([...waiting, again]);
  t.equal(done.length, SCRIPTS_WAITING_MAX + 2);
  t.equal(done.at(-1), 'again');
});

t.test('one sender has a tenth of the line, and the places come back', async (t) => {
  const { done, submit, submitBy, endRest } = setUp();
  await submit('first', 2);
  const waiting = Array.from({ length: SENDER_WAITING_MAX }, (_, i) => submitBy('one', `${i}`, 2));
  const refusal = { entry: 'Overloaded', code: 503 };
  await t.rejects(submitBy('one', 'one too many', 2), refusal);
  const other = submitBy('other', 'of another', 2);
  endRest();
  t.equal(done.at(-1), '0');
  const again = submitBy('one', 'again', 2);
  await t.rejects(submitBy('one', 'one too many', 2), refusal);
  for (let i = 0; i < SENDER_WAITING_MAX + 1; i++) endRest();
  await Promise.all([...waiting, other, again]);
  t.same(done.slice(-2), ['of another', 'again'], 'in the order in which they came');
});
