/** Whose image is fetched next. */
import t from 'tap';
import {
  createPullTurns,
  PullsBusy,
  WAITING_OF_ONE_MAX,
} from '../../../../src/adapters/containers/images/pull-turns.ts';
import { contractLimits } from '../../../../src/base/limits/contract-limits.ts';

function setUp() {
  const turns = createPullTurns();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const alone = new Map<string, () => boolean>();
  const ask = (name: string, isAlone = false, signal = new AbortController().signal) =>
    turns.run({ creator: name[0]!, isAlone, signal }, async (wasAlone) => {
      begun.push(name);
      alone.set(name, wasAlone);
      await new Promise<void>((resolve) => void ends.set(name, resolve));
    });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string) => {
    ends.get(name)?.();
    await settled();
  };
  return { ask, begun, end, settled, alone };
}

t.test('creators take turns, one pull each', async (t) => {
  const { ask, begun, end, settled } = setUp();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) void ask(name);
  await settled();
  t.strictSame(begun, ['a1', 'b1']);
  await end('a1');
  t.strictSame(begun, ['a1', 'b1', 'c1'], 'a has had a turn');
  await end('b1');
  t.strictSame(begun, ['a1', 'b1', 'c1', 'a2']);
  await end('c1');
  t.equal(begun.length, 4, 'the second place is not for the same creator');
  void ask('d1');
  await settled();
  t.strictSame(begun.slice(4), ['d1']);
});

t.test('a pull alone', async (t) => {
  const { ask, begun, end, settled, alone } = setUp();
  void ask('a1');
  await settled();
  t.ok(alone.get('a1')!());
  void ask('b1', true);
  void ask('c1');
  await settled();
  t.strictSame(begun, ['a1'], 'nothing begins before it');
  await end('a1');
  t.strictSame(begun, ['a1', 'b1']);
  await end('b1');
  t.strictSame(begun, ['a1', 'b1', 'c1']);
  void ask('d1');
  await settled();
  t.notOk(alone.get('c1')!());
  t.notOk(alone.get('d1')!());
  t.ok(alone.get('b1')!());
});

t.test('so many wait', async (t) => {
  const { ask, settled } = setUp();
  for (let i = 0; i <= WAITING_OF_ONE_MAX; i++) void ask(`a${i}`);
  await settled();
  await t.rejects(ask('a-more'), PullsBusy);
  const given = new AbortController();
  const other = ask('b1', false, given.signal);
  other.catch(() => {});
  await settled();
  const waiting = ask('b2', false, given.signal);
  given.abort(new Error('not wanted'));
  await t.rejects(waiting, /not wanted/);
  await t.rejects(ask('b3', false, given.signal), /not wanted/);
  const all = createPullTurns();
  const never = new AbortController().signal;
  const asked = (creator: string) =>
    all.run({ creator, isAlone: false, signal: never }, () => new Promise(() => {}));
  for (let i = 0; i < contractLimits.pulls.value + contractLimits.pullsWaiting.value; i++) {
    void asked(`creator ${i}`);
  }
  await t.rejects(asked('one more'), PullsBusy);
});
