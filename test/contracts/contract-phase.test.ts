// Who begins when the contracts of a block wait for one container.
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { Clock } from '../../src/base/ports.ts';
import { ContractPhase } from '../../src/contracts/contract-phase.ts';
import { createImageLoads } from '../../src/contracts/image-loads.ts';
import type { PoolEntry } from '../../src/mempool/entry.ts';

const LINES = 4;

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
      begin({ key }) {
        if (load.isFull) return { full: load };
        load.begin();
        begun.push(key);
        const ended = new Promise<() => 'next'>((resolve) => {
          ends.set(key, () => resolve(() => 'next'));
        });
        return { load, ended, abandon: () => undefined };
      },
    },
  );
  const arrive = (key: string): void => phase.arrived({ key } as PoolEntry);
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
  phase.add({ key: 'first' } as PoolEntry);
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
