/** Row a: signed transfers that one node accepts, one per POST, on disk before the 200. */
import { anvilFor, type Bench, postgresFor } from '../bench.ts';
import { startEcho } from '../denominators/hyper-express.ts';
import { startLibsodium } from '../denominators/libsodium.ts';
import { costRatioOf, figureOf, ratioOf } from '../measure/rounds.ts';
import { fundedForLoad, startAccepting } from '../node/accepting.ts';
import {
  atLeast,
  atMost,
  percent,
  perSecond,
  type RowResult,
  ratioAtLeast,
  withUnit,
} from '../report/result.ts';

/** Senders of a large network; caches hold the rows and keys of the few that are usual here. */
const OTHERS = { full: 100_000, quick: 10_000 };
/** Two whole rounds lie within a run, whose blocks can be counted. */
const RUN_MS = 3000;

export async function accepted(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const others = OTHERS[bench.quick ? 'quick' : 'full'];
  bench.say(`  ${others} more senders`);
  const funded = await fundedForLoad(bench, { others });
  const node = await startAccepting(bench, { execArgv: bench.nodeFlags, funded });
  const libsodium = startLibsodium();
  const echo = await startEcho(bench.load);
  const anvil = await anvilFor(bench, notes);
  const postgres = await postgresFor(bench, notes);
  const contenders = [
    node.accepted,
    node.acceptedOfOthers,
    anvil?.accepted,
    postgres?.tpcb,
    libsodium.one,
    libsodium.two,
    echo.post,
  ];
  const rounds = await bench.measure(contenders, notes, { ms: RUN_MS });
  const mixed = await node.readsUnderLoad(bench.quick ? 3000 : 10_000);
  await Promise.all([node, libsodium, echo, anvil, postgres].map((one) => one?.stop()));

  const { name } = node.accepted;
  const figure = (of: string) => figureOf(rounds, of, (sample) => sample.perSecond);
  const ratio = (of: string) => ratioOf(rounds, name, of);
  const against = (what: string, of: string) => ({
    what: `against ${what}`,
    value: '',
    against: `${of} ${perSecond(figure(of))}`,
    ratio: ratio(of),
    perCpu: costRatioOf(rounds, name, of),
  });
  const many = node.acceptedOfOthers.name;
  const committed = (of: string) =>
    perSecond(figureOf(rounds, of, (sample) => sample.committedPerSecond));
  const idle = figureOf(rounds, name, (sample) => sample.idleShare);
  const p99 = figureOf(rounds, name, (sample) => sample.p99Ms);
  const cpu = figureOf(rounds, name, (sample) => sample.cpuPerOperation);
  const main = figureOf(rounds, name, (sample) => sample.mainPerOperation);
  const perCpuSecond = figureOf(rounds, name, ({ cpuPerOperation }) => 1 / (cpuPerOperation ?? 0));
  const [v1, e] = [figure('V1')?.median, figure('E')?.median];
  const ideal = v1 && e && 1 / (1 / v1 + 1 / e);
  const ofIdeal = ideal && perCpuSecond && perCpuSecond.median / ideal;
  return {
    row: 'a',
    title: 'accepted transfers',
    figures: [
      {
        what: `accepted, 32 connections, ${funded.senders.length} senders`,
        value: perSecond(figure(name)),
      },
      { what: 'committed meanwhile', value: committed(name) },
      {
        what: `accepted, ${others} senders`,
        value: perSecond(figure(many)),
        against: `${funded.senders.length} senders`,
        ratio: ratioOf(rounds, many, name),
        perCpu: costRatioOf(rounds, many, name),
      },
      { what: 'committed meanwhile', value: committed(many) },
      { what: 'part of the machine that is idle', value: percent(idle) },
      against('anvil', 'A'),
      against('PostgreSQL TPC-B', 'P'),
      against('two verifying threads', 'V2'),
      against('POST echo', 'E'),
      { what: 'p99', value: withUnit(p99, ' ms') },
      {
        what: 'processor time of the node',
        value: cpu === undefined ? 'not measured' : `${(cpu.median * 1e6).toFixed(0)} µs each`,
        against:
          ideal === undefined || ideal === 0 ? '' : `1/(1/V1 + 1/E) ${Math.round(ideal ?? 0)}/s`,
        ratio: ofIdeal ? { median: ofIdeal, low: ofIdeal, high: ofIdeal, count: 1 } : undefined,
      },
      {
        what: 'of it the main thread',
        value: main === undefined ? 'not measured' : `${(main.median * 1e6).toFixed(0)} µs`,
      },
      { what: 'p99 of GET balance meanwhile', value: `${mixed.p99Ms.toFixed(1)} ms` },
    ],
    goals: [
      { level: 'Good', conditions: [ratioAtLeast(1, ratio('A'), 'A')] },
      {
        level: 'Strong',
        conditions: [ratioAtLeast(1.5, ratio('A'), 'A'), ratioAtLeast(2.5, ratio('P'), 'P')],
      },
      {
        level: 'Moonshot',
        conditions: [
          ratioAtLeast(2.2, ratio('A'), 'A'),
          ratioAtLeast(4, ratio('P'), 'P'),
          ratioAtLeast(0.4, ratio('V2'), 'V2'),
          atMost(25, p99?.median, 'ms p99'),
          atLeast(0.75, ofIdeal, 'of 1/(1/V1 + 1/E) per cpu-s'),
        ],
      },
    ],
    notes,
  };
}
