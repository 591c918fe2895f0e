/** Row d: reads of one node over 32 connections, beside the bare HTTP server. */
import { anvilFor, type Bench, postgresFor } from '../bench.ts';
import { UNCHANGED } from '../chain/kept-chains.ts';
import { startEcho } from '../denominators/hyper-express.ts';
import { costRatioOf, figureOf, ratioOf } from '../measure/rounds.ts';
import { startNode } from '../node/node-process.ts';
import {
  atMost,
  type Condition,
  perSecond,
  type RowResult,
  ratioAtLeast,
  withUnit,
} from '../report/result.ts';
import { longChain } from './chain.ts';
import { readers } from './readers.ts';

export async function reads(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const chain = await longChain(bench);
  const { folder, transfers } = chain;
  const node = await startNode(folder, { execArgv: bench.nodeFlags, set: [UNCHANGED] });
  const echo = await startEcho(bench.load);
  const anvil = await anvilFor(bench, notes);
  const postgres = await postgresFor(bench, notes);

  const contenders = [...readers(bench, node, chain), echo.get, anvil?.reads, postgres?.selectOnly];
  const rounds = await bench.measure(contenders, notes);
  await Promise.all([node, echo, anvil, postgres].map((one) => one?.stop()));

  const rate = (name: string) => perSecond(figureOf(rounds, name, (sample) => sample.perSecond));
  const ratio = (of: string, name = 'balance') => ratioOf(rounds, name, of);
  const p99 = (name: string) => figureOf(rounds, name, (sample) => sample.p99Ms);
  const cpu = (name: string): string => {
    const each = figureOf(rounds, name, (sample) => sample.cpuPerOperation);
    return each === undefined ? 'not measured' : `${(each.median * 1e6).toFixed(1)} µs`;
  };
  const against = (what: string, name: string, of: string) => ({
    what,
    value: what === '' ? '' : rate(name),
    against: `${of} ${rate(of)}`,
    ratio: ratio(of, name),
    perCpu: costRatioOf(rounds, name, of),
  });
  const allAtLeast = (bound: number): Condition[] => [
    ratioAtLeast(bound, ratio('H'), 'H'),
    ratioAtLeast(bound, ratio('H', 'transaction'), 'H by id'),
    ratioAtLeast(bound, ratio('H', 'header'), 'H for a header'),
  ];
  const ofH = (p99('balance')?.median ?? 0) / (p99('H')?.median ?? 1);
  return {
    row: 'd',
    title: 'reads',
    figures: [
      against('GET balance', 'balance', 'H'),
      against('', 'balance', 'A_r'),
      against('', 'balance', 'P_s'),
      against('GET transaction by id', 'transaction', 'H'),
      against('GET block header', 'header', 'H'),
      {
        what: 'p99 of balance',
        value: withUnit(p99('balance'), ' ms'),
        against: `H ${withUnit(p99('H'), ' ms')}`,
      },
      { what: 'p99 of transaction', value: withUnit(p99('transaction'), ' ms') },
      {
        what: 'processor time of balance, transaction, header',
        value: ['balance', 'transaction', 'header'].map(cpu).join(', '),
        against: `H ${cpu('H')}`,
      },
      { what: 'chain', value: `${transfers} transfers` },
    ],
    goals: [
      {
        level: 'Good',
        conditions: [...allAtLeast(0.5), ratioAtLeast(1, ratio('A_r'), 'A_r')],
      },
      { level: 'Strong', conditions: allAtLeast(0.7) },
      {
        level: 'Moonshot',
        conditions: [
          ratioAtLeast(0.85, ratio('H'), 'H'),
          ratioAtLeast(2, ratio('A_r'), 'A_r'),
          ratioAtLeast(2, ratio('P_s'), 'P_s'),
          ratioAtLeast(0.6, ratio('H', 'transaction'), 'H by id'),
          atMost(1.5, ofH, 'of the p99 of H'),
        ],
      },
    ],
    notes,
  };
}
