/** Work in steps: its result, and what runs in between. */
import t from 'tap';
import { inOneGo, inSlices, listInSteps, sortInSteps } from '../../src/concurrency/steps.ts';
import { TimeSlice } from '../../src/concurrency/time-slice.ts';

const byValue = (a: { value: number }, b: { value: number }): number => a.value - b.value;
const items = Array.from({ length: 5000 }, (_, at) => ({ value: (at * 7919) % 100, at }));

t.test('sorting in steps is sorting, and stable', async (t) => {
  t.strictSame(inOneGo(sortInSteps(items, byValue)), items.toSorted(byValue));
  t.strictSame(inOneGo(sortInSteps([], byValue)), []);
});

t.test('it yields whenever a slice is over', async (t) => {
  const clock = {
    now: 0,
    turns: 0,
    monotonic: () => clock.now++,
    turn: async () => void clock.turns++,
  };
  t.strictSame(
    await inSlices(sortInSteps(items, byValue), new TimeSlice(clock)),
    items.toSorted(byValue),
  );
  t.ok(clock.turns >= 5, `${clock.turns} turns`);
});

t.test('a list is read a few hundred items a step, without those that are undefined', async (t) => {
  let read = 0;
  function* rows() {
    for (; read < 1000; read++) yield read % 2 === 0 ? read : undefined;
  }
  const steps = listInSteps(rows());
  steps.next();
  t.ok(read > 0 && read < 500, `${read} in a step`);
  const rest = await inSlices(steps, new TimeSlice({ monotonic: () => 0, turn: async () => {} }));
  t.strictSame(
    rest,
    Array.from({ length: 500 }, (_, i) => 2 * i),
  );
});
