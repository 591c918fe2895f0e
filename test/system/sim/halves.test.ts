// Two halves with equally many miners part for some rounds. Afterwards they have each other's blocks only
// when the rounds of these are over, and no half is ever a block ahead for long. They become one chain all
// the same, since lateness counts for short branches only.
import t from 'tap';
import { LATE_DEPTH_MAX } from '../../../src/chain/fork/chain-choice.ts';
import { Cluster } from './cluster.ts';
import { LENGTH_MS, memberOf } from './settings.ts';

const MEMBERS = [0, 1, 2, 3].map((i) => memberOf(i));
const APART_MS = 4 * LENGTH_MS;
/** A head is announced, ids and blocks are asked for: five such ways are longer than a round. */
const WAY_MS = 3_000;
/** A half makes a block in every second round. */
const ROUNDS_MAX = 2 * LATE_DEPTH_MAX + 4;

t.setTimeout(120_000);

for (const halves of [
  [
    [0, 1],
    [2, 3],
  ],
  [
    [0, 2],
    [1, 3],
  ],
] as const) {
  t.test(`${halves[0]} and ${halves[1]}`, async (t) => {
    const cluster = new Cluster({
      seed: 7,
      consensus: 'poa',
      members: MEMBERS,
      quorum: 0,
      acquainted: true,
      retransmissionMs: 1_000,
    });
    for (const i of MEMBERS.keys()) cluster.start(i);
    await cluster.run(6 * LENGTH_MS);
    const [left, right] = halves;
    cluster.cut(left, right, APART_MS);
    for (const a of left) {
      for (const b of right) cluster.weather.slow(MEMBERS[a]!.host, MEMBERS[b]!.host, WAY_MS);
    }
    await cluster.run(APART_MS);
    t.notOk(isOne(cluster), 'apart');
    const since = cluster.world.now;
    const merged = await cluster.runUntil(() => isOne(cluster), ROUNDS_MAX * LENGTH_MS);
    t.ok(merged, `one chain after ${(cluster.world.now - since) / LENGTH_MS} rounds`);
    cluster.end();
  });
}

const heights = (cluster: Cluster): number[] =>
  cluster.running().map(({ blockchain }) => blockchain.tip().height);

/** All have the same chain but for its newest block, which may be on its way. */
function isOne(cluster: Cluster): boolean {
  const height = Math.min(...heights(cluster)) - 1;
  const hashes = cluster.running().map(({ blockchain }) => `${blockchain.stateHash(height)}`);
  return new Set(hashes).size === 1;
}
