/** Row d: reads of one node over 32 connections, beside the bare HTTP server. */
import { base58 } from '../../src/base/base58.ts';
import { anvilFor, type Bench, postgresFor } from '../bench.ts';
import { startEcho } from '../denominators/hyper-express.ts';
import { batch, get } from '../load/requests.ts';
import type { Contender } from '../measure/contender.ts';
import { withCost } from '../measure/cost.ts';
import { costRatioOf, figureOf, ratioOf } from '../measure/rounds.ts';
import { startNode } from '../node/node-process.ts';
import { atMost, perSecond, type RowResult, ratioAtLeast, withUnit } from '../report/result.ts';
import { longChain } from './chain.ts';

const CONNECTIONS = 32;

export async function reads(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const { folder, senders, height, transfers, ids } = await longChain(bench);
  const node = await startNode(folder, { execArgv: bench.nodeFlags });
  const echo = await startEcho(bench.load);
  const anvil = await anvilFor(bench, notes);
  const postgres = await postgresFor(bench, notes);

  const reader = (name: string, paths: readonly string[]): Contender => {
    const requests = batch(shuffled(paths).map(get));
    return {
      name,
      async run(ms) {
        const before = node.cpuSeconds();
        const ports = [node.port];
        const job = { ports, connections: CONNECTIONS, durationMs: ms, once: false };
        const result = await withCost(() => bench.load.run({ ...job, requests }));
        if (result.refused > 0) throw new Error(`the node refused a read: ${result.sample}`);
        return { ...result, cpuPerOperation: (node.cpuSeconds() - before) / result.answers };
      },
    };
  };
  const addresses = senders.map(({ address }) => folder.scheme.addressToText(address));
  const heights = Array.from({ length: height }, (_, i) => i + 1);
  const contenders = [
    reader(
      'balance',
      addresses.map((address) => `/addresses/balance/${address}`),
    ),
    reader(
      'transaction',
      ids.map((id) => `/transactions/info/${base58.encode(id)}`),
    ),
    reader(
      'header',
      heights.map((at) => `/blocks/headers/at/${at}`),
    ),
    echo.get,
    anvil?.reads,
    postgres?.selectOnly,
  ];
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
        conditions: [ratioAtLeast(0.5, ratio('H'), 'H'), ratioAtLeast(1, ratio('A_r'), 'A_r')],
      },
      { level: 'Strong', conditions: [ratioAtLeast(0.7, ratio('H'), 'H')] },
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

/** The same order in every run, and none that a cache would like. */
function shuffled<T>(items: readonly T[]): T[] {
  const out = [...items];
  let state = 1;
  for (let i = out.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = state % (i + 1);
    [out[i], out[j]] = [out[j]!, out[i]!];
  }
  return out;
}
