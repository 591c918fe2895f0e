// Crashes in the middle of writes: of the commits of blocks, and of the one commit of a long
// reorganisation. At every start the checkers compare the state with the recorded state of the
// head. SIM_CRASHES sets how many there are; a third of them is in the reorganisation.
import t from 'tap';
import { disagreement } from './checkers.ts';
import { Cluster } from './cluster.ts';
import type { SimNode } from './node.ts';
import { LENGTH_MS, memberOf } from './settings.ts';
import { createWorkload } from './workload.ts';

const CRASHES = Number(process.env['SIM_CRASHES'] ?? 80);
const CRASHES_IN_REORGANISATION = Math.floor(CRASHES / 3);
const BRANCH_BLOCKS = 50;
const ROUNDS_MAX = 100;
/** Rows that 50 blocks change at least, and a single one at most. */
const REORGANISATION_ROWS_MIN = 500;
const BLOCK_ROWS_MAX = 60;
const PAYMENT_MS = 5_000;
const MINUTE_MS = 60_000;

t.setTimeout(600_000);

t.test(
  `scenario 47: ${CRASHES} kills in a reorganisation of 50 blocks and in commits`,
  async (t) => {
    const members = [0, 1, 2, 3].map((i) => memberOf(i));
    const rules = { consensus: 'poa', members, quorum: 0 } as const;
    const cluster = new Cluster({ seed: 47, ...rules, acquainted: true, downMsMax: 1_000 });
    const { dice, world, checkers } = cluster;
    for (const i of members.keys()) cluster.start(i);
    const workload = createWorkload(dice.u32());
    const send = (): void => {
      world.after(PAYMENT_MS, send);
      cluster.send(workload);
    };
    await cluster.run(3 * LENGTH_MS);
    send();
    const fork = cluster.nodes[0]!.blockchain.tip().height;
    const isLong = (): boolean =>
      cluster.running().every(({ blockchain }) => blockchain.tip().height >= fork + BRANCH_BLOCKS);
    for (let round = 0; round < ROUNDS_MAX && !isLong(); round++) {
      // Renewed in time, so that it does not end by itself.
      cluster.cut([0, 1], [2, 3], 2 * LENGTH_MS);
      await cluster.run(LENGTH_MS);
    }
    t.ok(isLong(), 'both halves have made 50 blocks');
    t.equal(checkers.reorganisations, 0);
    const [one, , three] = cluster.nodes.map((node) => node!.blockchain.tip().score);
    const losers = one! < three! ? [0, 1] : [2, 3];

    // Sometimes it is the very end of the write.
    const doom = (node: SimNode): void =>
      node.crashAt(dice.below(2 * REORGANISATION_ROWS_MIN), REORGANISATION_ROWS_MIN);
    const doomed = (): SimNode[] => losers.flatMap((i) => cluster.nodes[i] ?? []);
    cluster.onStart = (node, i) => {
      if (losers.includes(i)) doom(node);
    };
    doomed().forEach(doom);
    t.ok(
      await cluster.runUntil(() => cluster.crashes >= CRASHES_IN_REORGANISATION, 20 * MINUTE_MS),
      `writes of ${cluster.crashedWrites} rows`,
    );
    t.equal(checkers.reorganisations, 0, 'none of them has come to its end');
    cluster.onStart = undefined;
    for (const node of doomed()) node.spare();
    const agree = () =>
      disagreement(cluster.running()) === undefined && cluster.running().length === 4;
    t.ok(await cluster.runUntil(agree, 2 * MINUTE_MS), 'the losing half catches up');
    t.ok(checkers.depthMax >= BRANCH_BLOCKS, `${checkers.depthMax} blocks at once`);

    while (cluster.crashes < CRASHES) {
      dice.pick(cluster.nodes)?.crashAt(dice.below(BLOCK_ROWS_MAX));
      await cluster.run(LENGTH_MS / 2);
    }
    t.ok(await cluster.runUntil(agree, 3 * MINUTE_MS), `${disagreement(cluster.running())}`);
    cluster.nothingLost();
    await checkers.undoIsIdentity(cluster.running()[0]!, cluster.ground, BRANCH_BLOCKS);
    cluster.end();
  },
);
