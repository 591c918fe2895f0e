// The only miner under proof of stake has a clock that is ahead, and that goes back: it gives its blocks
// from the future up, and the others never had them. The same blocks come back in their time, in the
// next life of the miner too, and the chain goes on.
import t from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import { headerRowAt } from '../../../src/chain/store/stored-blocks.ts';
import { disagreement } from './checkers.ts';
import { Cluster } from './cluster.ts';
import { LENGTH_MS, memberOf } from './settings.ts';

const AHEAD_MS = 10 * 60_000;
const BLOCKS = 3;

t.setTimeout(120_000);

t.test('the clock of the only miner goes back', async (t) => {
  const members = [memberOf(0), memberOf(1, 'watcher'), memberOf(2, 'watcher')];
  const cluster = new Cluster({
    seed: 110,
    consensus: 'pos',
    members,
    quorum: 0,
    acquainted: true,
    downMsMax: 1_000,
  });
  for (const i of members.keys()) cluster.start(i);
  await cluster.run(6 * LENGTH_MS);
  const [miner, other] = cluster.running();
  const idsOf = (node: typeof miner): string[] => {
    const { view } = node!.blockchain;
    const tip = () => node!.blockchain.tip();
    const heights = Array.from({ length: tip().height - 1 }, (_, i) => i + 2);
    return heights.map((height) => latin1(headerRowAt(view, height)!.header.signature));
  };
  miner!.clock.set(AHEAD_MS);
  const heightOf = (node: typeof miner): number => node!.blockchain.tip().height;
  const isAhead = await cluster.runUntil(
    () => heightOf(miner) >= heightOf(other) + BLOCKS,
    AHEAD_MS / 2,
  );
  t.ok(isAhead, 'it makes blocks that nobody takes');
  const made = idsOf(miner);
  const height = heightOf(other);
  miner!.clock.set(0);
  const isGivenUp = await cluster.runUntil(
    () => miner!.blockchain.tip().height === height,
    4 * LENGTH_MS,
  );
  t.ok(isGivenUp, 'it gives them up');
  cluster.kill(0, 1_000);
  const isBack = await cluster.runUntil(
    () => (cluster.nodes[1]?.blockchain.tip().height ?? 0) > made.length + 3,
    AHEAD_MS + 20 * LENGTH_MS,
  );
  t.ok(isBack, 'the chain goes on');
  t.strictSame(idsOf(cluster.nodes[1]).slice(0, made.length), made, 'with the same blocks');
  t.ok(await cluster.runUntil(() => disagreement(cluster.running()) === undefined, LENGTH_MS));
  cluster.end();
});
