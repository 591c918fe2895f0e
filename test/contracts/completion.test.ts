// The contract part of a block ends earlier where the blocks before took long to complete.
import t from 'tap';
import {
  createCompletionTimes,
  phaseEnd,
  phaseMs,
  type Round,
} from '../../src/contracts/phase-length.ts';
import { GENESIS_TIME, ROUND_MS } from '../node/in-process.ts';
import type { MemoryStoreOptions } from '../simulated/memory-store.ts';
import { contractNode, sum } from './contract-node.ts';

const ROUND: Round = { type: 'poa', roundMs: 1_800 };
const USUAL_MS = 360;
const TURN_MS = 9_000;

t.test('what is left for a block to complete', async (t) => {
  const leftFor = (ms: number): number => 1_800 - phaseEnd(ROUND, 0, 1_800, ms);
  t.equal(leftFor(0), USUAL_MS);
  t.equal(leftFor(USUAL_MS), USUAL_MS);
  t.equal(leftFor(USUAL_MS + 50), USUAL_MS + 50);
  t.equal(leftFor(10_000), USUAL_MS + 180, 'no more than an eighth of the part');
  const longest = 0.8 * phaseMs(ROUND);
  const begins = 90;
  t.ok(phaseEnd(ROUND, 0, 1_800, 10_000) - begins >= longest, 'a call of the longest time fits in');
  const stake: Round = { type: 'pos', averageDelayMs: 4_000 };
  t.equal(phaseEnd(stake, 7, Number.POSITIVE_INFINITY, 10_000), 1_007);
});

t.test('the longest of the last four counts', async (t) => {
  const times = createCompletionTimes();
  t.equal(times.longest(), 0);
  for (const ms of [30, 900, 20, 10]) times.add(ms);
  t.equal(times.longest(), 900);
  times.add(5);
  t.equal(times.longest(), 900);
  times.add(5);
  t.equal(times.longest(), 20);
});

t.test('on a disk that is slow for a while', async (t) => {
  const writes: number[] = [];
  let slowMs = 0;
  let now = (): number => 0;
  let after = (_ms: number, _then: () => void): void => {};
  const store: MemoryStoreOptions = {
    hold: async () => {
      writes.push(now());
      if (slowMs > 0) await new Promise<void>((resolve) => after(slowMs, resolve));
    },
  };
  const { at, created, call } = await contractNode(
    t,
    {
      endless: (execution, wait) =>
        execution.transaction.data.kind === 'create'
          ? sum(execution, wait)
          : new Promise<never>(() => {}),
    },
    { store, timeoutMs: 60_000 },
  );
  now = at.clock.now;
  after = (ms, then) => void at.clock.after(ms, then);
  const contract = await created('endless');
  /** When the block was written whose part a call filled, from the end of its turn. */
  const beforeEnd = async (ms: number): Promise<number> => {
    await call(contract);
    writes.length = 0;
    slowMs = ms;
    await at.mine();
    slowMs = 0;
    return TURN_MS - ((writes[0]! - GENESIS_TIME) % ROUND_MS);
  };
  t.equal(await beforeEnd(900), 500);
  t.equal(await beforeEnd(0), 900);
  for (let i = 0; i < 3; i++) await at.mine();
  t.equal(await beforeEnd(0), 500, 'and is forgotten');
});
