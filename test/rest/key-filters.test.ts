// The work of patterns is counted: of a request, and of a client.
import t from 'tap';
import { contractLimits } from '../../src/base/limits/contract-limits.ts';
import { createKeyFilters } from '../../src/rest/key-filters.ts';
import { fakeClock } from '../node/fake-clock.ts';

const SIZE = 1000;
const patterns = {
  async match(_pattern: string, keys: readonly string[]) {
    return { size: SIZE, verdicts: keys.map(() => true) };
  },
};
const key = 'a'.repeat(100);
/** Requests of one key each up to the limit of a request. */
const most = contractLimits.patternWork.value / (SIZE * key.length);

t.test('a request, and a client with several', async (t) => {
  const clock = fakeClock(0);
  const filters = createKeyFilters(patterns, clock);
  const accepts = await filters.open('a', 'one');
  t.same(await accepts(Array<string>(most).fill(key)), Array(most).fill(true));
  await t.rejects(filters.open('a', 'one'), { code: 503 });
  t.ok(await filters.open('a', 'another'));
  await clock.advance(3_000);
  const again = await filters.open('a', 'one');
  await t.rejects(again(Array<string>(most + 1).fill(key)), { code: 413 });
});

t.test('the work of a client is spread evenly over the time', async (t) => {
  const clock = fakeClock(0);
  const filters = createKeyFilters(patterns, clock);
  const [atOnce, second] = [contractLimits.patternWork.value, contractLimits.clientWork.value];
  const keys = Array<string>(100).fill(key);
  // The pattern, its characters, and what each key takes beside them.
  const each = 1000 * SIZE + keys.length * (SIZE * key.length + 500);
  /** Requests until one is refused. */
  const used = async (): Promise<number> => {
    for (let requests = 0; ; requests++) {
      try {
        await (await filters.open('a', 'one'))(keys);
      } catch {
        return requests;
      }
    }
  };
  t.equal(await used(), Math.ceil(atOnce / each));
  for (let i = 0; i < 10; i++) {
    await clock.advance(2_000);
    const count = await used();
    t.ok(Math.abs(count - (2 * second) / each) <= 1, `then what the time gives: ${count}`);
  }
});

t.test('empty keys cost, and what is open ends with the work of its client', async (t) => {
  const filters = createKeyFilters(patterns, fakeClock(0));
  const accepts = await filters.open('a', 'one');
  await t.rejects(accepts(Array<string>(most * key.length + 1).fill('')), { code: 413 });
  const early = await filters.open('a', 'two');
  const spendAll = async (): Promise<void> => {
    for (;;) await (await filters.open('a', 'two'))(Array<string>(most).fill(key));
  };
  await t.rejects(spendAll(), { code: 503 });
  await t.rejects(early([key]), { code: 503 });
});

t.test('few answers are in memory', async (t) => {
  const filters = createKeyFilters(patterns, fakeClock(0));
  const { promise, resolve } = Promise.withResolvers<void>();
  let [running, most] = [0, 0];
  const work = async () => {
    most = Math.max(most, ++running);
    await promise;
    running--;
  };
  const inTurn = (i: number) => filters.inTurn(`client ${i % 8}`, work);
  const all = Array.from({ length: 4 + 64 }, (_, i) => inTurn(i));
  await t.rejects(filters.inTurn('another', work), { code: 503 });
  resolve();
  await Promise.all(all);
  t.equal(most, 4);
});

t.test('clients take turns, and of one only a few requests wait', async (t) => {
  const filters = createKeyFilters(patterns, fakeClock(0));
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (client: string): Promise<void> =>
    filters.inTurn(client, () => {
      began.push(client);
      return new Promise<void>((resolve) => void ends.push(resolve));
    });
  const asked = Array.from({ length: 4 + 8 }, () => ask('greedy'));
  await t.rejects(ask('greedy'), { code: 503 }, 'a client has its own limit');
  asked.push(ask('one'), ask('two'), ask('one'));
  for (let done = 0; done < asked.length; done++) {
    ends[done]?.();
    await new Promise(setImmediate);
  }
  await Promise.all(asked);
  const turns = ['greedy', 'one', 'two', 'greedy', 'one', ...Array(6).fill('greedy')];
  t.strictSame(began, [...Array(4).fill('greedy'), ...turns]);
  const again = ask('greedy');
  ends.at(-1)?.();
  await t.resolves(again, 'places came back');
});
