/**
 * Row e2: from the 200 of a broadcast until the block of the transfer is final on all four nodes, and
 * what the votes cost of row b.
 */
import type { Bench } from '../bench.ts';
import { type Latency, latencyOf } from '../measure/latency.ts';
import { ratioOf, type Spread } from '../measure/rounds.ts';
import { blocksBetween } from '../node/blocks.ts';
import { until } from '../node/funded.ts';
import { tipOf } from '../node/headers.ts';
import { settled } from '../node/members.ts';
import { type BenchNetwork, startNetwork } from '../node/network.ts';
import { finalAt, watchFinal } from '../node/watch-final.ts';
import { atMost, type Condition, number, type RowResult } from '../report/result.ts';
import { postTransfers } from '../transfers/paced-transfers.ts';

const ROUND_MS = 1000;
const PER_SECOND = 200;
const SECONDS = { full: 30, quick: 5 };
const WARM_SECONDS = 10;
const POLL_MS = 5;
/** Of each of the two networks, in turn. */
const RUN_MS = { full: 30_000, quick: 6_000 };
const ROUNDS = { full: 3, quick: 1 };
/** Of processor time: the rate of a run differs by a tenth from that of the next one. */
const COST_MAX = 0.03;

export async function final(bench: Bench): Promise<RowResult> {
  const notes: string[] = [`heights were asked for every ${POLL_MS} ms, which the figures contain`];
  const waits = await untilFinal(bench);
  const cost = await costOfVotes(bench, notes);
  const p50Max = (rounds: number) => atMost(rounds * ROUND_MS, waits.p50Ms, 'ms p50');
  const votes: Condition = {
    text: `votes cost ≤ ${COST_MAX * 100} % of the processor time`,
    met: cost.cpu !== undefined && cost.cpu.median <= 1 + COST_MAX,
  };
  return {
    row: 'e2',
    title: 'broadcast to final on four nodes',
    figures: [
      {
        what: `200 → final on 4 nodes, ${PER_SECOND}/s, rounds of 1 s`,
        value: `p50 ${number(waits.p50Ms)} ms, p99 ${number(waits.p99Ms)} ms`,
      },
      { what: 'transfers', value: String(waits.count) },
      { what: 'row b with votes, rate', value: '', against: 'without', ratio: cost.rate },
      { what: 'processor time of each transfer', value: '', against: 'without', ratio: cost.cpu },
    ],
    goals: [
      { level: 'Good', conditions: [p50Max(3)] },
      { level: 'Strong', conditions: [p50Max(2)] },
      {
        level: 'Moonshot',
        conditions: [
          atMost(1.5 * ROUND_MS + 100, waits.p50Ms, 'ms p50'),
          atMost(2.5 * ROUND_MS + 100, waits.p99Ms, 'ms p99'),
          votes,
        ],
      },
    ],
    notes,
  };
}

async function untilFinal(bench: Bench): Promise<Latency> {
  const network = await startNetwork(bench, { roundMs: ROUND_MS, finality: true, name: 'final' });
  const seconds = SECONDS[bench.quick ? 'quick' : 'full'];
  await allVote(network);
  // The first run is on cold code, and four nodes compile at once.
  await waitsOf(network, PER_SECOND * WARM_SECONDS, 0);
  const times = await waitsOf(network, PER_SECOND * seconds, PER_SECOND * WARM_SECONDS);
  const equal = await network.stopAndCompare();
  if (!equal) throw new Error('the nodes do not have the same state');
  return latencyOf(times);
}

/** Milliseconds of each transfer. */
async function waitsOf(network: BenchNetwork, count: number, from: number): Promise<number[]> {
  const { nodes } = network;
  const [node] = nodes;
  const first = (await tipOf(node!)).height;
  const watch = watchFinal(nodes, POLL_MS);
  const posting = postTransfers(network, { count, from, perSecond: PER_SECOND }).then(
    async (sent) => {
      await settled(nodes);
      const last = (await tipOf(node!)).height;
      const isFinal = () => watch.seen.every((heights) => finalAt(heights, last) !== undefined);
      await until('the last block as final', async () => isFinal());
      return { sent, last };
    },
  );
  const { sent: posted, last } = await posting.finally(() => watch.stop());
  const { heights } = await blocksBetween(node!, first, last);
  return posted.map(({ id, answeredAt }) => {
    const height = heights.get(id);
    if (height === undefined) throw new Error('a transfer is in no block');
    return Math.max(...watch.seen.map((seen) => finalAt(seen, height)!)) - answeredAt;
  });
}

/** A miner that has just got its role votes from the next set of voters on. */
async function allVote({ nodes }: BenchNetwork): Promise<void> {
  await until('the votes of all miners', async () => {
    const { voters } = (await nodes[0]!.get('/finality')) as { voters: unknown[] };
    return voters.length === nodes.length;
  });
}

interface CostOfVotes {
  readonly rate: Spread | undefined;
  readonly cpu: Spread | undefined;
}

/** Beside the same network without votes; undefined where the machine was busy. */
async function costOfVotes(bench: Bench, notes: string[]): Promise<CostOfVotes> {
  const size = bench.quick ? 'quick' : 'full';
  const names = { votes: 'with votes', none: 'without votes' };
  const networks = [
    await startNetwork(bench, { roundMs: ROUND_MS, finality: true, name: names.votes }),
    await startNetwork(bench, { roundMs: ROUND_MS, finality: false, name: names.none }),
  ];
  await allVote(networks[0]!);
  const rounds = await bench.measure(
    networks.map(({ committed }) => committed),
    notes,
    { rounds: ROUNDS[size], ms: RUN_MS[size] },
  );
  for (const network of networks) {
    if (!(await network.stopAndCompare())) throw new Error('the nodes do not have the same state');
  }
  return {
    rate: ratioOf(rounds, names.votes, names.none),
    cpu: ratioOf(rounds, names.votes, names.none, ({ cpuPerOperation }) => cpuPerOperation),
  };
}
