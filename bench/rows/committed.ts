/** Row b: transfers that four nodes commit, load to all of them. */
import { type Bench, postgresFor } from '../bench.ts';
import { startLibsodium } from '../denominators/libsodium.ts';
import { costRatioOf, figureOf, type Rounds, ratioOf } from '../measure/rounds.ts';
import { THREAD_KINDS, type ThreadTimes } from '../measure/thread-times.ts';
import { startNetwork } from '../node/network.ts';
import {
  type Condition,
  type Figure,
  perSecond,
  type RowResult,
  ratioAtLeast,
} from '../report/result.ts';

/** Of each contender. A run has to show that the rate lasts, so there are fewer of them. */
const RUN_MS = { full: 60_000, quick: 6_000 };
const ROUNDS = { full: 3, quick: 1 };

export async function committed(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const size = bench.quick ? 'quick' : 'full';
  const network = await startNetwork(bench, { roundMs: 1000 });
  const libsodium = startLibsodium();
  const postgres = await postgresFor(bench, notes);
  const contenders = [network.committed, postgres?.tpcb, libsodium.two];
  const rounds = await bench.measure(contenders, notes, { rounds: ROUNDS[size], ms: RUN_MS[size] });
  await Promise.all([libsodium, postgres].map((one) => one?.stop()));
  const equal = await network.stopAndCompare();

  const { name } = network.committed;
  const ratio = (of: string) => ratioOf(rounds, name, of);
  const figure = (of: string) => perSecond(figureOf(rounds, of, (sample) => sample.perSecond));
  const against = (what: string, of: string) => ({
    what: `against ${what}`,
    value: '',
    against: `${of} ${figure(of)}`,
    ratio: ratio(of),
    perCpu: costRatioOf(rounds, name, of),
  });
  const cpu = figureOf(rounds, name, (sample) => sample.cpuPerOperation);
  const sameState: Condition = { text: 'equal state hash', met: equal };
  return {
    row: 'b',
    title: 'committed on four nodes',
    figures: [
      { what: `committed, 4 nodes, ${RUN_MS[size] / 1000} s`, value: figure(name) },
      against('PostgreSQL TPC-B', 'P'),
      against('two verifying threads', 'V2'),
      {
        what: 'processor time of the four nodes',
        value: cpu === undefined ? 'not measured' : `${(cpu.median * 1e6).toFixed(0)} µs each`,
      },
      ...threadFigures(rounds, name),
    ],
    goals: [
      { level: 'Good', conditions: [ratioAtLeast(0.5, ratio('P'), 'P'), sameState] },
      { level: 'Strong', conditions: [ratioAtLeast(0.75, ratio('P'), 'P'), sameState] },
      {
        level: 'Moonshot',
        conditions: [
          ratioAtLeast(1.25, ratio('P'), 'P'),
          ratioAtLeast(0.12, ratio('V2'), 'V2'),
          sameState,
        ],
      },
    ],
    notes,
  };
}

function threadFigures(rounds: Rounds, name: string): Figure[] {
  return Object.entries(THREAD_KINDS).map(([kind, what]) => {
    const spread = figureOf(
      rounds,
      name,
      ({ threadsPerOperation }) => threadsPerOperation?.[kind as keyof ThreadTimes],
    );
    const value = spread === undefined ? 'not measured' : `${(spread.median * 1e6).toFixed(0)} µs`;
    return { what: `of that, ${what}`, value };
  });
}
