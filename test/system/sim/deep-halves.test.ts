// Two halves of a network part, and get each other's blocks too late to follow them, while votes arrive in time: both go
// on for more than max-rollback blocks. Once the network is quick again they are one chain, and finality goes on.
import t from 'tap';
import { feature } from '../../../src/tx/rules/features.ts';
import { disagreement } from './checkers.ts';
import { Cluster } from './cluster.ts';
import { LENGTH_MS, memberOf } from './settings.ts';

const MEMBERS = [0, 1, 2, 3].map((i) => memberOf(i));
const [LEFT, RIGHT] = [
  [0, 1],
  [2, 3],
];
const ROLLBACK = 3;
const APART_MS = 5 * LENGTH_MS;
/** Five such ways, as long as it takes to follow a peer, are three rounds. */
const WAY_MS = 6_000;
const ROUNDS_MS = 60 * LENGTH_MS;

t.setTimeout(300_000);

t.test('halves that parted more than max-rollback blocks ago', async (t) => {
  const cluster = new Cluster({
    seed: 7,
    consensus: 'poa',
    members: MEMBERS,
    quorum: 0,
    acquainted: true,
    retransmissionMs: 1_000,
    features: [feature.finality],
    rollbackMax: ROLLBACK,
  });
  const slow = (ms: number): void => {
    for (const a of LEFT) {
      for (const b of RIGHT) cluster.weather.slow(MEMBERS[a]!.host, MEMBERS[b]!.host, ms);
    }
  };
  const heights = () => cluster.running().map(({ blockchain }) => blockchain.tip().height);
  const final = () =>
    Math.min(...cluster.running().map(({ inner }) => inner!.finality.report()!.finalHeight));

  for (const i of MEMBERS.keys()) cluster.start(i);
  const isWell = () => cluster.running().length === MEMBERS.length && final() > 3;
  t.ok(await cluster.runUntil(isWell, ROUNDS_MS), 'all is well');
  const before = final();
  cluster.cut(LEFT, RIGHT, APART_MS);
  slow(WAY_MS);
  const isDeep = () => Math.min(...heights()) > before + 2 * ROLLBACK + 1;
  t.ok(await cluster.runUntil(isDeep, ROUNDS_MS), 'both halves go on');
  const ids = cluster.running().map(({ blockchain }) => `${blockchain.stateHash(before + 2)}`);
  t.not(ids[LEFT[0]!], ids[RIGHT[0]!], 'they have parted below that');

  slow(0);
  const highest = Math.max(...heights());
  t.ok(await cluster.runUntil(() => final() > highest, ROUNDS_MS), 'finality goes on');
  const isOne = () => disagreement(cluster.running()) === undefined;
  t.ok(await cluster.runUntil(isOne, ROUNDS_MS), 'one chain');
  cluster.end();
});
