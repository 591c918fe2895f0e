// R16: the clock of one of four nodes goes wrong. The others are not affected, no block from the
// future is accepted (the checkers test that), and the node is back within two rounds after the
// clock is corrected.
import t from 'tap';
import { disagreement } from './checkers.ts';
import { Cluster } from './cluster.ts';
import { type ConsensusKind, LENGTH_MS, memberOf } from './settings.ts';

const MINUTE_MS = 60_000;
const WRONG_MS = 3 * MINUTE_MS;
const NODES = 4;
// Of the processor, not of the simulation.
t.setTimeout(600_000);
const WRONG = 2;

const faults: Readonly<Record<string, { readonly aheadMs: number; readonly gain?: number }>> = {
  'ten minutes ahead': { aheadMs: 10 * MINUTE_MS },
  'ten minutes behind': { aheadMs: -10 * MINUTE_MS },
  'five seconds ahead': { aheadMs: 5_000 },
  'too fast by 5 %': { aheadMs: 0, gain: 0.05 },
  'too slow by 5 %': { aheadMs: 0, gain: -0.05 },
};

async function network(consensus: ConsensusKind, trace?: (line: string) => void): Promise<Cluster> {
  const members = Array.from({ length: NODES }, (_, i) => memberOf(i));
  const options = { seed: 16, consensus, members, quorum: 1, acquainted: true, trace };
  const cluster = new Cluster(options);
  members.forEach((_, i) => {
    cluster.start(i);
  });
  await cluster.run(MINUTE_MS);
  return cluster;
}

const heightOf = (cluster: Cluster): number => cluster.running()[0]!.blockchain.tip().height;

for (const consensus of ['poa', 'pos'] as const) {
  for (const [name, { aheadMs, gain }] of Object.entries(faults)) {
    t.test(`a clock ${name}, ${consensus}`, async (t) => {
      const cluster = await network(consensus);
      const before = heightOf(cluster);
      const wrong = cluster.nodes[WRONG]!;
      wrong.clock.set(aheadMs, gain);
      await cluster.run(WRONG_MS);
      const others = cluster.running().filter((node) => node !== wrong);
      t.equal(disagreement(others), undefined, 'the others agree');
      const turns = ((WRONG_MS / LENGTH_MS) * (NODES - 1)) / NODES;
      const grown = heightOf(cluster) - before;
      // Blocks of proof of stake come at random times.
      t.ok(grown >= turns * (consensus === 'poa' ? 0.9 : 0.5), `${grown} blocks`);
      wrong.clock.set(0);
      const isBack = await cluster.runUntil(
        () => disagreement(cluster.running()) === undefined,
        2 * LENGTH_MS,
      );
      t.ok(isBack, `back within two rounds: ${disagreement(cluster.running())}`);
      await cluster.run(MINUTE_MS);
      t.equal(disagreement(cluster.running()), undefined, 'and stays');
      cluster.end();
    });
  }
}

t.test('a clock that jumps back and forth', async (t) => {
  const cluster = await network('poa');
  const wrong = cluster.nodes[WRONG]!;
  for (const seconds of [60, -60, 600, 0, -600, 90]) {
    wrong.clock.set(seconds * 1000);
    await cluster.run(25_000);
  }
  wrong.clock.set(0);
  const isBack = await cluster.runUntil(
    () => disagreement(cluster.running()) === undefined && wrong.peers.sessions.all().length > 0,
    2 * LENGTH_MS,
  );
  t.ok(isBack, `back within two rounds: ${disagreement(cluster.running())}`);
  cluster.end();
});

t.test('while the time source is silent no block is made, and all others are taken', async (t) => {
  const cluster = await network('poa');
  const wrong = cluster.nodes[WRONG]!;
  wrong.clock.trust(false);
  const before = heightOf(cluster);
  await cluster.run(WRONG_MS);
  t.equal(disagreement(cluster.running()), undefined);
  const makers = cluster.makersSince(before);
  t.ok(makers.length > 0 && !makers.includes(wrong.name), makers.join(' '));
  wrong.clock.trust(true);
  const again = heightOf(cluster);
  await cluster.run(WRONG_MS);
  t.ok(cluster.makersSince(again).includes(wrong.name), 'it makes blocks again');
  cluster.end();
});

t.test(
  'turns that a clock used too early do not keep a miner from those before them',
  async (t) => {
    const equivocations: string[] = [];
    const cluster = await network('poa', (line) => {
      if (line.includes('block.equivocation')) equivocations.push(line);
    });
    const wrong = cluster.nodes[WRONG]!;
    wrong.clock.set(10 * MINUTE_MS);
    const isAhead = await cluster.runUntil(
      () => wrong.blockchain.tip().header.timestamp > cluster.world.now + MINUTE_MS,
      MINUTE_MS,
    );
    t.ok(isAhead, 'it has made a block in a turn to come');
    wrong.clock.set(0);
    const before = heightOf(cluster);
    await cluster.run(2 * MINUTE_MS);
    t.ok(cluster.makersSince(before).includes(wrong.name), 'it makes blocks again');
    // Those turns come, and it leaves them alone.
    await cluster.run(10 * MINUTE_MS);
    t.equal(disagreement(cluster.running()), undefined);
    t.strictSame(equivocations, [], 'no turn was used twice');
    cluster.end();
  },
);
