/** Row i: resident memory idle, under the load of row a, and with a full pool. */
import type { Bench } from '../bench.ts';
import { UNCHANGED } from '../chain/kept-chains.ts';
import { startAccepting } from '../node/accepting.ts';
import { startNode } from '../node/node-process.ts';
import { atMost, number, type RowResult } from '../report/result.ts';
import { longChain } from './chain.ts';

const IDLE_MS = { full: 30_000, quick: 5000 };
const LOAD_MS = { full: 60_000, quick: 6000 };
const POOL = 100_000;
const WARM_UP = 2000;
const SETTLE_MS = 2000;

export async function memory(bench: Bench): Promise<RowResult> {
  const size = bench.quick ? ('quick' as const) : ('full' as const);
  const { folder, transfers } = await longChain(bench);
  const idle = await startNode(folder, { set: [UNCHANGED] });
  await wait(IDLE_MS[size]);
  const idleMb = idle.memory().rssMb;
  const startPeakMb = idle.memory().peakMb;
  await idle.stop();

  bench.say('  under load');
  const loaded = await startAccepting(bench);
  const { perSecond: rate, committedPerSecond } = await loaded.accepted.run(LOAD_MS[size]);
  const { rssMb: loadedMb, mappedMb, peakMb } = loaded.node.memory();
  await loaded.stop();

  bench.say('  with a full pool');
  const full = await startAccepting(bench, { set: ['miner.enable=no'] });
  // Threads and hot code are there before the first entry that counts.
  await full.fill(WARM_UP);
  await wait(SETTLE_MS);
  const emptyMb = full.node.memory().rssMb;
  await full.fill(POOL);
  const inPool = (await full.poolSize()) - WARM_UP;
  await wait(SETTLE_MS);
  const poolMb = full.node.memory().rssMb - emptyMb;
  await full.stop();

  const value = (mb: number) => `${number(mb)} MB`;
  const bounds = (level: 'Good' | 'Strong' | 'Moonshot', idleMax: number, loadMax: number) => ({
    level,
    conditions: [atMost(idleMax, idleMb, 'MB idle'), atMost(loadMax, peakMb, 'MB under load')],
  });
  return {
    row: 'i',
    title: 'memory',
    figures: [
      { what: `idle, ${transfers} transfers`, value: value(idleMb) },
      { what: 'the most while starting', value: value(startPeakMb) },
      { what: `after the load of row a, ${number(rate)}/s`, value: value(loadedMb) },
      {
        what: 'committed meanwhile',
        value:
          committedPerSecond === undefined ? 'not measured' : `${number(committedPerSecond)}/s`,
      },
      { what: 'of it pages of files', value: value(mappedMb) },
      { what: 'the most under that load', value: value(peakMb) },
      { what: `${inPool} transactions in the pool`, value: `+ ${value(poolMb)}` },
    ],
    goals: [
      bounds('Good', 250, 600),
      bounds('Strong', 150, 400),
      bounds('Moonshot', 110, 250),
      { level: 'Good', conditions: [atMost(250, poolMb, 'MB for 100,000 in the pool')] },
    ],
    notes: [],
  };
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
