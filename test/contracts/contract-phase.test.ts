// Who begins when the contracts of a block wait for one container.
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { Clock } from '../../src/base/ports/clock.ts';
import { ContractPhase, type PhasePorts } from '../../src/contracts/contract-phase.ts';
import { createImageLoads } from '../../src/contracts/images/image-loads.ts';
import { ENTRIES_OF_ONE_MAX } from '../../src/contracts/waiting/phase-intake.ts';
import type { PoolEntry } from '../../src/mempool/entries/entry.ts';

const LINES = 4;
const def = { type: 104 };

/** The contracts of one creator have names such as 'creator/contract'. */
const ownerOf = (contract: string): string => contract.split('/')[0]!;

/** A phase whose container takes one run at a time, and whose event loop the test turns. */
function setUp() {
  const paused: (() => void)[] = [];
  let ms = 0;
  const clock: Clock = {
    now: () => 0,
    system: () => 0,
    // After every step a turn is due, and one is enough.
    monotonic: () => {
      ms += 3;
      return ms;
    },
    synchronized: () => true,
    after: () => () => undefined,
    turn: () => new Promise((resolve) => paused.push(resolve)),
  };
  const load = createImageLoads<never>(1)({ image: 'image', imageHash: 'ab' });
  const ends = new Map<string, () => void>();
  const begun: string[] = [];
  const phase = new ContractPhase(
    { parallelism: 4, deadline: 1000 },
    {
      clock,
      contractKey: ({ key }) => key,
      ownerOf,
      isDue: () => true,
      yields: () => false,
      begin({ key }) {
        if (load.isFull) return { full: load };
        load.begin();
        begun.push(key);
        const ended = new Promise<() => 'next'>((resolve) => {
          ends.set(key, () => resolve(() => 'next'));
        });
        return { image: undefined, load, ended, abandon: () => undefined };
      },
    },
  );
  const arrive = (key: string): void => phase.arrived({ key, def } as PoolEntry);
  /** Lets one piece of work that has paused go on. */
  const goOn = async (at = 0): Promise<void> => {
    paused.splice(at, 1)[0]?.();
    await turn();
  };
  const end = async (key: string): Promise<void> => {
    ends.get(key)?.();
    await turn();
  };
  return { phase, begun, paused, arrive, goOn, end };
}

t.test('a turn that comes too late does not go round among those that wait', async (t) => {
  const { phase, begun, paused, arrive, goOn, end } = setUp();
  phase.add({ key: 'first', def } as PoolEntry);
  const ended = phase.run();
  for (const key of ['second', 'third', 'fourth']) arrive(key);
  await goOn();
  await goOn();
  t.same(begun, ['first']);
  t.equal(paused.length, 1, 'the fourth has not been tried yet');
  await end('first');
  // The second gets the turn, but the fourth is ahead of it.
  await goOn(1);
  await goOn();
  t.same(begun, ['first', 'fourth']);
  for (let i = 0; i < LINES; i++) await goOn();
  t.equal(paused.length, 0, 'nothing is tried again while the container is full');
  for (const key of ['fourth', 'third', 'second']) {
    while (!begun.includes(key)) await goOn();
    await end(key);
    while (paused.length > 0) await goOn();
  }
  await ended;
  t.same(begun, ['first', 'fourth', 'third', 'second']);
});

t.test('creators take turns at a container, however many contracts one of them has', async (t) => {
  const { phase, begun, paused, arrive, goOn, end } = setUp();
  const many = Array.from({ length: 4 }, (_, i) => `many/${i}`);
  for (const key of many) phase.add({ key, def } as PoolEntry);
  const ended = phase.run();
  while (paused.length > 0) await goOn();
  t.same(begun, ['many/0'], 'the others wait');
  arrive('one/0');
  while (paused.length > 0) await goOn();
  for (let i = 0; i < 5; i++) {
    await end(begun[i]!);
    while (paused.length > 0) await goOn();
  }
  await ended;
  t.same(begun, ['many/0', 'many/1', 'one/0', 'many/2', 'many/3']);
});

interface SimulatedRun {
  /** Milliseconds. */
  readonly runs: number;
  readonly outcome?: 'again' | 'stop';
}

/** A phase on a clock of its own, with one contract for each sender; the test says what begins. */
function simulated(
  parallelism: number,
  begin: (sender: string, entry: PoolEntry) => { readonly cold: string } | SimulatedRun,
  more: Pick<Partial<PhasePorts>, 'contractKey' | 'placeOf'> = {},
) {
  const timers: { at: number; action: () => void }[] = [];
  let now = 0;
  const begun: string[] = [];
  const abandoned: string[] = [];
  const after = (ms: number, action: () => void) => {
    const timer = { at: now + ms, action };
    timers.push(timer);
    return () => void (timers.includes(timer) && timers.splice(timers.indexOf(timer), 1));
  };
  const clock: Clock = {
    now: () => now,
    system: () => now,
    monotonic: () => now,
    synchronized: () => true,
    after,
    turn: () => Promise.resolve(),
  };
  const phase = new ContractPhase(
    { parallelism, deadline: 1000 },
    {
      clock,
      contractKey: ({ sender }) => sender,
      ownerOf,
      isDue: () => true,
      yields: () => false,
      ...more,
      begin({ key }, entry) {
        const step = begin(key, entry);
        begun.push(key);
        if ('cold' in step) return step;
        const ended = new Promise<() => 'next' | 'again' | 'stop'>((resolve) => {
          after(step.runs, () => resolve(() => step.outcome ?? 'next'));
        });
        const abandon = () => void abandoned.push(key);
        return { image: key, load: undefined, ended, abandon };
      },
    },
  );
  const pass = async (): Promise<void> => {
    const ended = phase.run();
    let isOver = false;
    void ended.then(() => (isOver = true));
    for (let i = 0; i < 20; i++) await turn();
    while (!isOver && timers.length > 0) {
      timers.sort((a, b) => a.at - b.at);
      const { at, action } = timers.shift()!;
      now = at;
      action();
      for (let i = 0; i < 5; i++) await turn();
    }
    await ended;
  };
  return { phase, begun, abandoned, pass };
}

const entries = (sender: string, count: number): PoolEntry[] =>
  Array.from({ length: count }, (_, i) => ({ key: `${sender} ${i}`, sender, def }) as PoolEntry);

t.test('two senders that flood do not shut out a third one', async (t) => {
  const { phase, begun, pass } = simulated(1, () => ({ runs: 100 }));
  phase.addAll([...entries('a', 15_000), ...entries('b', 15_000), ...entries('third', 2)]);
  await pass();
  t.equal(begun.filter((sender) => sender === 'third').length, 2);
});

t.test('many senders that flood do not either', async (t) => {
  const { phase, begun, pass } = simulated(1, () => ({ runs: 20 }));
  const flood = Array.from({ length: 5 }, (_, i) => entries(`flood ${i}`, 15_000)).flat();
  phase.addAll([...flood, ...entries('last', 2)]);
  await pass();
  t.equal(begun.filter((sender) => sender === 'last').length, 2);
});

t.test('what has been executed leaves its place to what was left out', async (t) => {
  const { phase, begun, pass } = simulated(1, () => ({ runs: 0 }));
  phase.addAll(entries('a', ENTRIES_OF_ONE_MAX + 1_000));
  await pass();
  t.equal(begun.length, ENTRIES_OF_ONE_MAX + 1_000);
});

t.test('the end of a contract in doubt waits for calls that were left out', async (t) => {
  for (const isInDoubt of [true, false]) {
    const end = { key: 'end', sender: 'creator', def: { type: 106 } } as PoolEntry;
    const calls = entries('a', ENTRIES_OF_ONE_MAX + 500);
    // The calls of another contract take most of the places of their sender, and do not end.
    const slow = new Set(calls.slice(0, 3_000));
    const all = [...calls, end];
    const executed: PoolEntry[] = [];
    const { phase, pass } = simulated(
      2,
      (_, entry) => {
        executed.push(entry);
        return { runs: slow.has(entry) ? 1_000 : 0 };
      },
      {
        contractKey: (entry) => (slow.has(entry) ? 'slow' : 'fast'),
        placeOf: isInDoubt ? (entry) => all.indexOf(entry) : undefined,
      },
    );
    phase.addAll(all);
    await pass();
    t.equal(executed.includes(end), !isInDoubt, 'nobody else can put off the end of a contract');
  }
});

t.test('a contract that stops leaves its places to others', async (t) => {
  const { phase, begun, pass } = simulated(1, (sender) =>
    sender === 'good' ? { runs: 0 } : { runs: 0, outcome: 'stop' },
  );
  const full = Array.from({ length: 4 }, (_, i) => entries(`full ${i}`, ENTRIES_OF_ONE_MAX));
  phase.addAll([...full.flat(), ...entries('good', ENTRIES_OF_ONE_MAX + 1_000)]);
  await pass();
  const good = begun.filter((sender) => sender === 'good').length;
  t.equal(good, ENTRIES_OF_ONE_MAX + 1_000);
});

t.test('cold contracts take no time from ready ones', async (t) => {
  const tried = new Map<string, number>();
  const { phase, begun, pass } = simulated(2, (sender) => {
    tried.set(sender, (tried.get(sender) ?? 0) + 1);
    return sender === 'good' ? { runs: 10 } : { cold: 'image' };
  });
  const cold = Array.from({ length: 100 }, (_, i) => entries(`cold ${i}`, 3)).flat();
  phase.addAll([...cold, ...entries('good', 99)]);
  await pass();
  t.equal(tried.get('good'), 99);
  t.ok(begun.indexOf('good') < 200);
  const tries = begun.length - 99;
  t.ok(tries <= 100 + 10, `${tries} tries for 100 contracts with one image in a second`);
});

t.test('what is cold is not asked again while anything else is ready', async (t) => {
  const { phase, begun, pass } = simulated(1, (sender) =>
    sender === 'good' ? { runs: 10 } : { cold: sender },
  );
  const cold = Array.from({ length: 20 }, (_, i) => entries(`cold ${i}`, 3)).flat();
  phase.addAll([...cold, ...entries('good', 50)]);
  await pass();
  const tried = begun.slice(0, begun.lastIndexOf('good')).filter((sender) => sender !== 'good');
  t.equal(tried.length, 20, 'once each');
  t.ok(begun.length > 50 + 20, 'and again afterwards');
});

t.test('who makes itself stale has a limited time alone', async (t) => {
  let runs = 0;
  const { phase, begun, abandoned, pass } = simulated(4, (sender) => {
    if (sender === 'good') return { runs: 5 };
    return ++runs > 2 ? { runs: 5_000 } : { runs: 10, outcome: 'again' };
  });
  phase.addAll([...entries('selfish', 2), ...entries('good', 120)]);
  await pass();
  t.same(abandoned, ['selfish']);
  t.equal(runs, 3, 'and no second time in a block');
  t.equal(begun.filter((sender) => sender === 'good').length, 120);
});

t.test('all creators that make themselves stale have half of a phase', async (t) => {
  const runs = new Map<string, number>();
  const { phase, begun, abandoned, pass } = simulated(1, (sender) => {
    if (sender === 'good') return { runs: 5 };
    const count = (runs.get(sender) ?? 0) + 1;
    runs.set(sender, count);
    return count > 2 ? { runs: 5_000 } : { runs: 10, outcome: 'again' };
  });
  phase.addAll([...['a', 'b', 'c'].flatMap((one) => entries(one, 1)), ...entries('good', 60)]);
  await pass();
  t.equal(abandoned.length, 2, 'the third does not begin alone');
  t.equal(begun.filter((sender) => sender === 'good').length, 60);
});

t.test('nobody runs alone in what others have left of a share', async (t) => {
  const runs = new Map<string, number>();
  const { phase, abandoned, pass } = simulated(1, (sender) => {
    const count = (runs.get(sender) ?? 0) + 1;
    runs.set(sender, count);
    if (count <= 2) return { runs: 10, outcome: 'again' };
    return { runs: sender === 'a' ? 5_000 : 100 };
  });
  phase.addAll(['a', 'b', 'good'].flatMap((one) => entries(one, 1)));
  await pass();
  t.strictSame(
    [...runs],
    [
      ['a', 3],
      ['b', 3],
      ['good', 2],
    ],
    'it waits for the next block',
  );
  t.strictSame(abandoned, ['a'], 'and its call does not count as too long');
});

t.test('a creator has its time alone once, for all its contracts', async (t) => {
  const runs = new Map<string, number>();
  const { phase, begun, abandoned, pass } = simulated(1, (sender) => {
    if (sender === 'good') return { runs: 5 };
    const count = (runs.get(sender) ?? 0) + 1;
    runs.set(sender, count);
    return count > 2 ? { runs: 5_000 } : { runs: 10, outcome: 'again' };
  });
  const selfish = ['selfish/1', 'selfish/2'].flatMap((one) => entries(one, 1));
  phase.addAll([...selfish, ...entries('good', 60)]);
  await pass();
  t.same(abandoned.length, 1, 'the second contract does not begin alone');
  t.equal(begun.filter((sender) => sender === 'good').length, 60);
});
