/** Row e: from the 200 of a broadcast until the transfer is in a block on all four nodes. */
import type { Bench } from '../bench.ts';
import { type Latency, latencyOf } from '../measure/latency.ts';
import { blocksBetween } from '../node/blocks.ts';
import { settled } from '../node/members.ts';
import { type BenchNetwork, startNetwork } from '../node/network.ts';
import { hadAt, watchTips } from '../node/watch-tips.ts';
import { atMost, number, type RowResult } from '../report/result.ts';
import { postTransfers } from '../transfers/paced-transfers.ts';

const PER_SECOND = 200;
const SECONDS = { full: 30, quick: 5 };
const POLL_MS = 5;

export async function latency(bench: Bench): Promise<RowResult> {
  const slow = await measured(bench, 1000);
  const fast = await measured(bench, 250);
  const figure = (what: string, { p50Ms, p99Ms }: Latency) => ({
    what,
    value: `p50 ${number(p50Ms)} ms, p99 ${number(p99Ms)} ms`,
  });
  return {
    row: 'e',
    title: 'broadcast to committed on four nodes',
    figures: [
      figure(`200 → in a block on 4 nodes, ${PER_SECOND}/s, rounds of 1 s`, slow),
      figure('the same with rounds of 250 ms', fast),
      { what: 'transfers', value: `${slow.count} and ${fast.count}` },
    ],
    goals: [
      { level: 'Good', conditions: [atMost(1300, slow.p50Ms, 'ms p50')] },
      { level: 'Strong', conditions: [atMost(650, slow.p50Ms, 'ms p50')] },
      {
        level: 'Moonshot',
        conditions: [
          atMost(550, slow.p50Ms, 'ms p50'),
          atMost(1150, slow.p99Ms, 'ms p99'),
          atMost(150, fast.p50Ms, 'ms p50 at 250 ms'),
          atMost(350, fast.p99Ms, 'ms p99 at 250 ms'),
        ],
      },
    ],
    notes: [`tips were asked for every ${POLL_MS} ms, which the figures contain`],
  };
}

async function measured(bench: Bench, roundMs: number): Promise<Latency> {
  bench.say(`  rounds of ${roundMs} ms`);
  const network = await startNetwork(bench, { roundMs });
  const seconds = SECONDS[bench.quick ? 'quick' : 'full'];
  // The first run is on cold code.
  await latencies(network, PER_SECOND * 2, 0);
  const times = await latencies(network, PER_SECOND * seconds, PER_SECOND * 2);
  const equal = await network.stopAndCompare();
  if (!equal) throw new Error('the nodes do not have the same state');
  return latencyOf(times);
}

/** Milliseconds of each transfer. */
async function latencies(network: BenchNetwork, count: number, from: number): Promise<number[]> {
  const { nodes } = network;
  const watch = watchTips(nodes, POLL_MS);
  const posted = await postTransfers(network, { count, from, perSecond: PER_SECOND });
  await settled(nodes);
  await watch.stop();

  const first = Math.min(...watch.seen.map(([tip]) => tip?.height ?? 0));
  const last = Math.max(...watch.seen.map((tips) => tips.at(-1)?.height ?? 0));
  const { ids, heights } = await blocksBetween(nodes[0]!, first, last);
  return posted.map(({ id, answeredAt }) => {
    const height = heights.get(id);
    const had = height && watch.seen.map((tips) => hadAt(tips, height, ids));
    const times = had ? had.filter((at) => at !== undefined) : [];
    if (times.length < nodes.length) throw new Error('a transfer never reached all nodes');
    return Math.max(...times) - answeredAt;
  });
}
