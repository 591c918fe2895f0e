// An empty node joins a network that has existed for a long time. NEWCOMER_BLOCKS sets how many blocks
// it has; by default there are fewer, but still more than one exchange of the sync brings.
import t from 'tap';
import { isParticipant } from '../../../src/ledger/participants.ts';
import { disagreement } from './checkers.ts';
import { Cluster } from './cluster.ts';
import { LENGTH_MS, memberOf } from './settings.ts';
import { createWorkload } from './workload.ts';

const BLOCKS = Number(process.env['NEWCOMER_BLOCKS'] ?? 3_000);
const MINUTE_MS = 60_000;

t.setTimeout(900_000);

t.test(
  `scenario 105: ${BLOCKS} blocks from three peers, with a restart in the middle`,
  async (t) => {
    // Two that only follow, so that every round has its block.
    const members = [memberOf(0), memberOf(1, 'watcher'), memberOf(2, 'watcher')];
    const newcomer = memberOf(3, 'stranger');
    const rules = { consensus: 'poa', members: [...members, newcomer], quorum: 0 } as const;
    const cluster = new Cluster({ seed: 105, ...rules, acquainted: true, downMsMax: 1_000 });
    cluster.start(0);
    await cluster.run(LENGTH_MS);
    const first = cluster.nodes[0]!;
    const workload = createWorkload(cluster.dice.u32());
    cluster.guard(cluster.submit(first, workload.register(cluster.world.now, newcomer, 'add')));
    await cluster.run(BLOCKS * LENGTH_MS);
    t.ok(first.blockchain.tip().height > BLOCKS, `${first.blockchain.tip().height} blocks`);
    t.ok(isParticipant(first.blockchain.view, newcomer.account.address));
    for (const i of [1, 2]) {
      cluster.copyDisk(0, i);
      cluster.start(i);
    }
    await cluster.run(MINUTE_MS);

    // Its own state does not know it, nor its peers: it has to ask them for their keys.
    cluster.start(3);
    const heightOf = (): number => cluster.nodes[3]?.inner?.blockchain.tip().height ?? 0;
    t.ok(await cluster.runUntil(() => heightOf() > BLOCKS / 3, 10 * MINUTE_MS), 'on its way');
    const reached = heightOf();
    t.ok(reached < BLOCKS, `at ${reached}`);
    cluster.kill(3, 1_000);
    t.ok(await cluster.runUntil(() => heightOf() > 0, MINUTE_MS), 'up again');
    t.ok(heightOf() >= reached, `goes on at ${heightOf()}`);
    const isWhole = (): boolean =>
      heightOf() > BLOCKS && disagreement(cluster.running()) === undefined;
    t.ok(await cluster.runUntil(isWhole, 20 * MINUTE_MS), `${heightOf()} blocks`);
    t.equal(cluster.running().length, rules.members.length);
    cluster.end();
  },
);
