import t from 'tap';
import { roundLimits } from '../../../src/base/limits/round-limits.ts';
import {
  createPhaseIntake,
  ENTRIES_MAX,
  ENTRIES_OF_ONE_MAX,
  type PhaseIntake,
} from '../../../src/contracts/waiting/phase-intake.ts';
import type { PoolEntry } from '../../../src/mempool/entries/entry.ts';

const LEFT_OUT_MAX = roundLimits.leftOut.value;

const entriesOf = (sender: string, count: number): PoolEntry[] =>
  Array.from({ length: count }, (_, i) => ({ key: `${sender} ${i}`, sender }) as PoolEntry);

const taken = (intake: PhaseIntake, entries: readonly PoolEntry[], contract = ''): PoolEntry[] =>
  entries.filter((entry) => intake.offer(entry, contract + entry.sender));

t.test('senders that flood leave room for others, whoever came first', async (t) => {
  for (const floods of [2, 10, 100]) {
    const intake = createPhaseIntake();
    const flood = Array.from({ length: floods }, (_, i) => entriesOf(`flood ${i}`, 15_000)).flat();
    const few = entriesOf('few', 50);
    const all = [...flood, ...few];
    intake.share(all);
    const inPlay = taken(intake, all);
    t.equal(inPlay.filter(({ sender }) => sender === 'few').length, 50, `${floods} flood`);
    t.ok(inPlay.length <= ENTRIES_MAX);
    t.ok(inPlay.length >= Math.min(floods * ENTRIES_OF_ONE_MAX, ENTRIES_MAX - floods));
  }
});

t.test('a contract has its limit too', async (t) => {
  const intake = createPhaseIntake();
  const all = ['a', 'b', 'c'].flatMap((sender) => entriesOf(sender, 4_000));
  intake.share(all);
  t.equal(all.filter((entry) => intake.offer(entry, 'one')).length, ENTRIES_OF_ONE_MAX);
});

t.test('only what is in play counts: the rest comes in when half is done', async (t) => {
  const intake = createPhaseIntake();
  const all = entriesOf('a', 2 * ENTRIES_OF_ONE_MAX);
  intake.share(all);
  const inPlay = taken(intake, all);
  t.equal(inPlay.length, ENTRIES_OF_ONE_MAX);
  t.same(intake.again(), []);
  for (const entry of inPlay.slice(0, ENTRIES_OF_ONE_MAX / 2)) intake.leave(entry, 'a');
  all.at(-1)!.removed = true;
  const again = intake.again();
  t.equal(again.length, ENTRIES_OF_ONE_MAX - 1, 'all that are still in the pool');
  t.equal(taken(intake, again).length, ENTRIES_OF_ONE_MAX / 2);
});

t.test('what is left out has a limit too', async (t) => {
  const intake = createPhaseIntake();
  const [entry] = entriesOf('a', 1);
  for (let i = 0; i < ENTRIES_OF_ONE_MAX + LEFT_OUT_MAX + 1; i++) intake.offer(entry!, '');
  for (let i = 0; i < ENTRIES_OF_ONE_MAX / 2; i++) intake.leave(entry!, '');
  t.equal(intake.again().length, LEFT_OUT_MAX);
});

t.test('what comes behind those of its contract is left out with them', async (t) => {
  const intake = createPhaseIntake();
  const calls = entriesOf('a', ENTRIES_OF_ONE_MAX + 1);
  const [end, other] = [...entriesOf('end', 1), ...entriesOf('other', 1)] as [PoolEntry, PoolEntry];
  intake.share([...calls, end, other]);
  // The places of its sender are full, and not those of the contract.
  for (const [i, call] of calls.entries()) intake.offer(call, i < 100 ? 'one' : 'two');
  t.equal(intake.offer(end, 'two', true), false);
  t.equal(intake.offer(other, 'one', true), true, 'of another contract');
  for (const call of calls.slice(0, ENTRIES_OF_ONE_MAX - 1)) {
    intake.leave(call, calls.indexOf(call) < 100 ? 'one' : 'two');
  }
  const again = intake.again();
  t.strictSame(again, [calls.at(-1), end]);
  t.strictSame(
    again.map((entry) => intake.offer(entry, 'two', entry === end)),
    [true, true],
  );
});
