/** Row e: from the 200 of a broadcast until the transfer is in a block on all four nodes. */
import { base58 } from '../../src/base/base58.ts';
import type { Bench } from '../bench.ts';
import { postPaced } from '../load/paced.ts';
import { settled } from '../node/members.ts';
import { type BenchNetwork, startNetwork } from '../node/network.ts';
import { hadAt, watchTips } from '../node/watch-tips.ts';
import { atMost, number, type RowResult } from '../report/result.ts';
import { broadcastRequest, nthTransfer } from '../transfers/transfers.ts';

const PER_SECOND = 200;
const SECONDS = { full: 30, quick: 5 };
const POLL_MS = 5;

interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly count: number;
}

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
  times.sort((a, b) => a - b);
  const quantile = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? 0;
  return { p50Ms: quantile(0.5), p99Ms: quantile(0.99), count: times.length };
}

/** Milliseconds of each transfer. */
async function latencies(network: BenchNetwork, count: number, from: number): Promise<number[]> {
  const { nodes, senders, folder } = network;
  const now = Date.now();
  const txs = Array.from({ length: count }, (_, i) =>
    nthTransfer(from + i, senders, now + i, folder.scheme),
  );
  const watch = watchTips(nodes, POLL_MS);
  const answered = await postPaced(
    nodes.map(({ port }) => port),
    txs.map((tx) => broadcastRequest(tx, folder.scheme)),
    PER_SECOND,
  );
  await settled(nodes);
  await watch.stop();

  const [node] = nodes;
  const ids = new Map<number, string>();
  const heights = new Map<string, number>();
  const first = Math.min(...watch.seen.map(([tip]) => tip?.height ?? 0));
  const last = Math.max(...watch.seen.map((tips) => tips.at(-1)?.height ?? 0));
  for (let height = first; height <= last; height++) {
    const block = (await node!.get(`/blocks/at/${height}`)) as BlockJson;
    ids.set(height, block.signature);
    for (const { id } of block.transactions) heights.set(id, height);
  }
  return txs.map((tx, i) => {
    const height = heights.get(base58.encode(tx.id));
    const had = height && watch.seen.map((tips) => hadAt(tips, height, ids));
    const times = had ? had.filter((at) => at !== undefined) : [];
    if (times.length < nodes.length) throw new Error('a transfer never reached all nodes');
    return Math.max(...times) - answered[i]!;
  });
}

interface BlockJson {
  readonly signature: string;
  readonly transactions: readonly { readonly id: string }[];
}
