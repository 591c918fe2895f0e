// R4: four nodes are cut off from each other in every way, again and again. Once the lines are whole
// and the sessions are back, they are on one chain within two rounds; the checkers watch that nothing
// below the finality depth is rolled back. `PARTITIONS=500` is the long form.
import t from 'tap';
import { disagreement } from './checkers.ts';
import { Cluster } from './cluster.ts';
import { type ConsensusKind, LENGTH_MS, memberOf } from './settings.ts';
import { RETRANSMISSION_MS_MAX } from './weather.ts';
import { createWorkload } from './workload.ts';

const PARTITIONS = Number(process.env['PARTITIONS'] ?? 12);
const NODES = 4;
const PARTITION_MS_MAX = 120_000;
const FLAP_MS = 8_000;
/**
 * Until sessions are back: what was sent into a cut line is sent again, a place that failed is left
 * alone for a minute (`suspension-residence-time`), a node that the configuration names and that did
 * not answer for too often for as long, and one place is dialled every five seconds
 * (`attempt-connection-delay`).
 */
const RECONNECT_MS_MAX = RETRANSMISSION_MS_MAX + 60_000 + NODES * 5_000;
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
  cluster.running().every(({ peers }) => peers.connected().length === NODES - 1);

for (const consensus of ['poa', 'pos'] as const satisfies readonly ConsensusKind[]) {
  t.test(`${PARTITIONS / 2} partitions, ${consensus}`, async (t) => {
    const members = all.map((i) => memberOf(i));
    const cluster = new Cluster({ seed: 4, consensus, members, quorum: 0, acquainted: true });
    for (const i of all) cluster.start(i);
    const workload = createWorkload(cluster.dice.u32());
    const send = (): void => {
      cluster.world.after(PAYMENT_MS, send);
      cluster.send(workload);
    };
    await cluster.run(60_000);
    send();
    let slowest = 0;
    for (let i = 0; i < PARTITIONS / 2; i++) {
      const ms = cluster.dice.between(FLAP_MS, PARTITION_MS_MAX);
      const how = cuts[i % cuts.length]!(cluster, ms);
      await cluster.run(ms + FLAP_MS);
      const healed = cluster.world.now;
      t.ok(
        await cluster.runUntil(() => isConnected(cluster), RECONNECT_MS_MAX),
        `${how} for ${ms} ms: all sessions are back`,
      );
      const isOne = await cluster.runUntil(
        () => disagreement(cluster.running()) === undefined,
        // A session that has outlived a short partition has to wait for what was sent into it.
        Math.max(0, healed + RETRANSMISSION_MS_MAX - cluster.world.now) + ROUNDS_MS,
      );
      t.ok(isOne, `one chain again: ${disagreement(cluster.running())}`);
      slowest = Math.max(slowest, cluster.world.now - healed);
    }
    cluster.nothingLost();
    const { reorganisations, depthMax } = cluster.checkers;
    t.comment(`${reorganisations} reorganisations, the deepest of ${depthMax} blocks`);
    t.comment(`whole again after at most ${slowest / 1000} s`);
    t.ok(depthMax > 1, 'partitions that left a trace');
    cluster.end();
  });
}
