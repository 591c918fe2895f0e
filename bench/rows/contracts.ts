/**
 * Row j: calls of container contracts that one node executes and commits. Beside them, in the same
 * run: one start of a container for each call, one exec for each call, and gRPC alone. Then the
 * times between blocks, without and with a contract that is slow.
 */
import { simpleImage } from '../../test/containers/images.ts';
import { sdkImage } from '../../test/containers/sdk-image.ts';
import type { Bench } from '../bench.ts';
import { benchEngine, ECHO_VALUE, echoImage, GRPC_LABEL, source } from '../contracts/images.ts';
import { startUnary } from '../denominators/grpc.ts';
import { oneShot } from '../denominators/one-shot.ts';
import { figureOf, ratioOf } from '../measure/rounds.ts';
import { type ContractNode, startContractNode } from '../node/contract-node.ts';
import {
  atLeast,
  atMost,
  number,
  perSecond,
  type RowResult,
  ratioAtLeast,
} from '../report/result.ts';

const ROUND_MS = 1000;
const CONTAINERS = 4;
const SDK_CALL = [{ key: 'action', value: 'echo' }, ...ECHO_VALUE];
const SLEEP = [{ key: 'sleep', value: '' }];
const BLOCKS_MS = { full: 20_000, quick: 6000 };
const POLL_MS = 5;
const ECHO_SCRIPT = '#!/bin/sh\necho \'[{"key":"value","type":"string","value":"echo"}]\'\n';

export async function contracts(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const engine = await benchEngine();
  bench.say('  images, contracts');
  const warm = await startContractNode(bench, engine, { roundMs: ROUND_MS });
  const echoes: Uint8Array[] = [];
  for (let i = 0; i < CONTAINERS; i++) echoes.push(await warm.create(await echoImage(engine, i)));
  const sdk = await warm.create(
    await sdkImage(engine, 'bench-sdk', source('sdk-echo.js'), [GRPC_LABEL]),
  );
  const script = await simpleImage(engine, ECHO_SCRIPT);
  const simple = await warm.create(script);
  const unary = await startUnary();

  const many = warm.calls('echo', echoes, ECHO_VALUE, 500);
  const one = warm.calls('one container', echoes.slice(0, 1), ECHO_VALUE, 250);
  await one.run(2000);
  const before = await warm.runMs(0.5);
  const contenders = [
    many,
    one,
    warm.calls('SDK', [sdk], SDK_CALL, 50),
    warm.calls('exec', [simple], ECHO_VALUE, 5),
    oneShot(engine, script),
    unary.calls,
  ];
  const rounds = await bench.measure(contenders, notes, {
    ms: bench.quick ? 3000 : 8000,
    countsOthers: true,
  });
  await unary.stop();

  bench.say('  times between blocks');
  const quiet = await blockTimes(warm, bench);
  await warm.post(200, echoes.slice(0, 1), SLEEP);
  const slow = await blockTimes(warm, bench);
  await warm.stop();

  const figure = (of: string) => figureOf(rounds, of, (sample) => sample.perSecond);
  const ratio = (of: string) => ratioOf(rounds, 'echo', of);
  const cpu = figureOf(rounds, 'echo', (sample) => sample.cpuPerOperation);
  const rate = figure('echo')?.median;
  const against = (what: string, of: string) => ({
    what: `against ${what}`,
    value: '',
    against: `${of} ${perSecond(figure(of))}`,
    ratio: ratio(of),
  });
  const times = ({ p50, p99 }: BlockTimes): string =>
    `p50 ${number(p50)} ms, p99 ${number(p99)} ms`;
  return {
    row: 'j',
    title: 'calls of container contracts, executed and committed',
    figures: [
      { what: `calls, ${CONTAINERS} containers`, value: perSecond(figure('echo')) },
      { what: 'calls, one container', value: perSecond(figure('one container')) },
      { what: 'calls, a contract of the SDK', value: perSecond(figure('SDK')) },
      against('one exec a call', 'exec'),
      against('one container a call', 'start'),
      against('unary gRPC alone, 32 in flight', 'G'),
      { what: 'call of the first container, alone', value: `p50 ${number(before ?? 0)} ms` },
      {
        what: 'processor time of the node',
        value: cpu === undefined ? 'not measured' : `${(cpu.median * 1e6).toFixed(0)} µs each`,
      },
      { what: 'between blocks, no calls', value: times(quiet) },
      { what: 'between blocks, a contract that takes 400 ms', value: times(slow) },
    ],
    goals: [
      { level: 'Good', conditions: [atLeast(100, rate, '/s')] },
      { level: 'Strong', conditions: [atLeast(500, rate, '/s')] },
      {
        level: 'Moonshot',
        conditions: [
          atLeast(1000, rate, '/s'),
          ratioAtLeast(0.4, ratio('G'), 'G'),
          atMost(5, before, 'ms p50'),
        ],
      },
    ],
    notes,
  };
}

interface BlockTimes {
  readonly p50: number;
  readonly p99: number;
}

/** Between the moments at which the height is seen to change. */
async function blockTimes({ node }: ContractNode, bench: Bench): Promise<BlockTimes> {
  const ends = performance.now() + BLOCKS_MS[bench.quick ? 'quick' : 'full'];
  const times: number[] = [];
  let height = 0;
  let last: number | undefined;
  while (performance.now() < ends) {
    const now = (await node.get('/blocks/height')) as { height: number };
    if (now.height !== height) {
      const at = performance.now();
      if (last !== undefined) times.push(at - last);
      if (height !== 0) last = at;
      height = now.height;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  times.sort((a, b) => a - b);
  const quantile = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? 0;
  return { p50: quantile(0.5), p99: quantile(0.99) };
}
