// Three of seven voters are gone for good (finality.md#overrides): the chain stands, its operators name who
// votes, and it goes on with final blocks. A node whose operator has named nobody does not follow.
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import type { Config } from '../../../src/node/config/settings.ts';
import { feature } from '../../../src/tx/rules/features.ts';
import { disagreement } from './checkers.ts';
import { Cluster } from './cluster.ts';
import { LENGTH_MS, memberOf } from './settings.ts';

const ROLLBACK = 10;
const ROUNDS_MS = 60 * LENGTH_MS;
const FOR_EVER_MS = 100_000_000;
// As many as wait for votes.
const STAY = [0, 1, 2, 3];
const GONE = [4, 5, 6];
const WITHOUT = 6;
const members = [...STAY, ...GONE].map((i) => memberOf(i));

t.setTimeout(300_000);

t.test('a chain without three of seven voters goes on once they are left out', async (t) => {
  const cluster = new Cluster({
    seed: 29,
    consensus: 'poa',
    members,
    quorum: 0,
    acquainted: true,
    features: [feature.finality],
    rollbackMax: ROLLBACK,
  });
  for (const i of members.keys()) cluster.start(i);
  const reports = () => cluster.running().map(({ inner }) => inner!.finality.report()!);
  const final = () => Math.min(...reports().map(({ finalHeight }) => finalHeight));
  const allRun = () => cluster.running().length === members.length;
  t.ok(await cluster.runUntil(() => allRun() && final() > 3, ROUNDS_MS), 'all is well');
  for (const i of GONE) cluster.kill(i, FOR_EVER_MS);
  t.ok(await cluster.runUntil(() => reports().every(({ waits }) => waits), ROUNDS_MS), 'it waits');
  await cluster.run(10 * LENGTH_MS);
  const before = final();
  const { headHeight, headHash } = reports()[0]!;
  t.equal(disagreement(cluster.running()), undefined);
  t.ok(headHeight <= before + ROLLBACK + 1, `${headHeight} and final ${before}`);

  const entry = {
    height: headHeight,
    header: headHash,
    voters: STAY.map((i) => base58.encode(members[i]!.account.publicKey)),
  };
  const withEntry = (config: Config, i: number): Config =>
    i === WITHOUT ? config : { ...config, finality: { ...config.finality, overrides: [entry] } };
  cluster.configure(withEntry);
  for (const i of STAY) cluster.kill(i, 1_000);
  await cluster.run(2_000);
  t.ok(await cluster.runUntil(() => final() > headHeight + 5, ROUNDS_MS), 'it goes on');
  t.match(reports()[0], { voters: [{}, {}, {}, {}], next: [], overrides: [{ isApplied: true }] });
  t.equal(reports()[0]!.voters.length, 4);

  // Two come back with the entry, the third without.
  for (const i of GONE) cluster.start(i);
  const isBack = () => reports().some(({ voters }) => voters.length === 6);
  t.ok(await cluster.runUntil(isBack, ROUNDS_MS), 'who comes back votes again after its block');
  const without = cluster.nodes[WITHOUT]!.inner?.blockchain.tip().height ?? 0;
  t.ok(without <= headHeight, 'nobody meets it');
  cluster.end();
});
