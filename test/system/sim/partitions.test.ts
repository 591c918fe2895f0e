// R4: four nodes are repeatedly cut off from one another in every way. Two rounds after the
// connections work again they are on one chain. A connection that has outlived the partition
// repeats lost data after at most half a minute, as TCP does. Half of the partitions are without
// that pause, so that they show only the delay of the nodes. The checkers test that no block below
// the finality depth is rolled back. `PARTITIONS=500` is the long form.
import t from 'tap';
import { disagreement } from './checkers.ts';
import { Cluster } from './cluster.ts';
import { type ConsensusKind, LENGTH_MS, memberOf } from './settings.ts';
import { RETRANSMISSION_MS_MAX } from './weather.ts';
import { createWorkload } from './workload.ts';

const PARTITIONS = Number(process.env['PARTITIONS'] ?? 16);
const NODES = 4;
const PARTITION_MS_MAX = 120_000;
const FLAP_MS = 8_000;
const RECONNECT_MS_MAX = 150_000;
const ROUNDS_MS = 2 * LENGTH_MS;
const PAYMENT_MS = 3_000;

t.setTimeout(60_000 + PARTITIONS * 60_000);

const all = Array.from({ length: NODES }, (_, i) => i);

type Cut = (cluster: Cluster, ms: number) => string;

function halves({ dice }: Cluster, size: number): readonly [number[], number[]] {
  const order = dice.shuffled(all);
  return [order.slice(0, size), order.slice(size)];
}

const cuts: readonly Cut[] = [
  (cluster, ms) => {
    const [left, right] = halves(cluster, 1);
    cluster.cut(left, right, ms);
    return `${left} | ${right}`;
  },
  (cluster, ms) => {
    const [left, right] = halves(cluster, 2);
    cluster.cut(left, right, ms);
    return `${left} | ${right}`;
  },
  (cluster, ms) => {
    const [left, right] = halves(cluster, cluster.dice.between(1, 3));
    cluster.cut(left, right, ms, true);
    return `${left} > ${right}`;
  },
  (cluster, ms) => {
    const [left, right] = halves(cluster, cluster.dice.between(1, 2));
    for (let at = 0; at < ms; at += 2 * FLAP_MS) {
      cluster.world.after(at, () => cluster.cut(left, right, FLAP_MS));
    }
    return `${left} flaps ${right}`;
  },
];

const isConnected = (cluster: Cluster): boolean =>
  cluster.running().every(({ peers }) => peers.sessions.all().length === NODES - 1);

interface Form {
  readonly consensus: ConsensusKind;
  readonly retransmissionMs: number;
}

const forms: readonly Form[] = (['poa', 'pos'] as const).flatMap((consensus) =>
  [1_000, RETRANSMISSION_MS_MAX].map((retransmissionMs) => ({ consensus, retransmissionMs })),
);
const EACH = Math.ceil(PARTITIONS / forms.length);

for (const { consensus, retransmissionMs } of forms) {
  t.test(`${EACH} partitions, ${consensus}, sent again after ${retransmissionMs} ms`, async (t) => {
    const members = all.map((i) => memberOf(i));
    const cluster = new Cluster({
      seed: 4,
      consensus,
      members,
      quorum: 0,
      acquainted: true,
      retransmissionMs,
    });
    for (const i of all) cluster.start(i);
    const workload = createWorkload(cluster.dice.u32());
    const send = (): void => {
      cluster.world.after(PAYMENT_MS, send);
      cluster.send(workload);
    };
    await cluster.run(60_000);
    send();
    const times: number[] = [];
    for (let i = 0; i < EACH; i++) {
      const ms = cluster.dice.between(FLAP_MS, PARTITION_MS_MAX);
      const how = cuts[i % cuts.length]!(cluster, ms);
      // The last flap may end later than the others.
      await cluster.run(i % cuts.length === 3 ? ms + FLAP_MS : ms);
      const healed = cluster.world.now;
      const isOne = await cluster.runUntil(
        () => disagreement(cluster.running()) === undefined,
        (retransmissionMs === RETRANSMISSION_MS_MAX ? RETRANSMISSION_MS_MAX : 0) + ROUNDS_MS,
      );
      t.ok(isOne, `${how} for ${ms} ms: one chain again: ${disagreement(cluster.running())}`);
      times.push(cluster.world.now - healed);
      t.ok(await cluster.runUntil(() => isConnected(cluster), RECONNECT_MS_MAX), 'all sessions');
    }
    cluster.nothingLost();
    const { reorganisations, depthMax } = cluster.checkers;
    t.comment(`${reorganisations} reorganisations, the deepest of ${depthMax} blocks`);
    times.sort((a, b) => a - b);
    const share = (part: number): number => times[Math.ceil(part * times.length) - 1]! / 1000;
    t.comment(`one chain ${share(0.5)} s after healing in the median, ${share(0.95)} s in 95 %`);
    const inTime = times.filter((ms) => ms <= ROUNDS_MS).length;
    t.comment(`${inTime} of ${times.length} within two rounds, all after ${share(1)} s`);
    t.ok(depthMax > 1, 'partitions that left a trace');
    cluster.end();
  });
}
