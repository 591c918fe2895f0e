// One of three miners withholds each of its blocks until its successor has made one, or until its own next
// turn, when it has made a second one on top. That takes no turn away: the successors' blocks stay, and no
// miner but the withholding one is marked.
import t from 'tap';
import { equal } from '../../../src/base/bytes.ts';
import { consensusView } from '../../../src/chain/apply/consensus-view.ts';
import { headerRowAt } from '../../../src/chain/store/stored-blocks.ts';
import { disagreement } from './checkers.ts';
import { Cluster } from './cluster.ts';
import { LENGTH_MS, memberOf } from './settings.ts';

const TIMES = 30;
const MEMBERS = [0, 1, 2].map((i) => memberOf(i));
const AGREE_MS_MAX = 120_000;

t.setTimeout(300_000);

/** `hold` begins with the round in which the villain makes its block. */
async function withheld(hold: (cluster: Cluster) => void) {
  const cluster = new Cluster({
    seed: 7,
    consensus: 'poa',
    members: MEMBERS,
    quorum: 0,
    acquainted: true,
  });
  for (const i of MEMBERS.keys()) cluster.start(i);
  await cluster.run(6 * LENGTH_MS);
  let marks = 0;
  for (let i = 0; i < TIMES; i++) {
    const [villain] = cluster.running();
    const { account } = villain!.member;
    const slot = villain!.blockchain.nextSlot(account, cluster.world.now + LENGTH_MS)!;
    await cluster.run(slot.from - cluster.world.now);
    hold(cluster);
    await cluster.run(4 * LENGTH_MS);
    for (const { blockchain } of cluster.running().slice(1)) {
      const state = consensusView(blockchain.view);
      for (const { account: honest } of MEMBERS.slice(1)) {
        const history = state.banHistory(honest.address);
        marks += (history?.warnings.length ?? 0) + (history?.bans.length ?? 0);
      }
    }
  }
  const agreed = await cluster.runUntil(
    () => disagreement(cluster.running()) === undefined,
    AGREE_MS_MAX,
  );
  const [, honest] = cluster.running();
  const { view } = honest!.blockchain;
  const tip = () => honest!.blockchain.tip();
  const { height } = tip();
  const made = (at: number): number => {
    const { generator } = headerRowAt(view, at)!.header;
    return MEMBERS.findIndex(({ account }) => equal(account.publicKey, generator));
  };
  const counts = [0, 0, 0];
  let carried = 0;
  for (let at = 2; at <= height; at++) {
    counts[made(at)]! += 1;
    const { consensus } = headerRowAt(view, at)!.header;
    if (consensus.kind === 'poa') carried += consensus.claims?.lost.length ?? 0;
  }
  cluster.end();
  return { marks, agreed, counts, carried };
}

// The member that is listed last is the first of the queue, and follows the first one.
const [villain, , successor] = MEMBERS.map(({ host }) => host) as [string, string, string];

t.test('a round and a half later, when the successor has made its block', async (t) => {
  const { marks, agreed, counts } = await withheld(({ weather, dice }) => {
    weather.withhold(villain, 1.5 * LENGTH_MS + dice.below(300));
  });
  t.equal(marks, 0, 'nobody honest is marked');
  t.ok(agreed);
  const [first = 0, next = 0, last = 0] = counts;
  t.ok(Math.min(next, last) >= 2 * TIMES, `${first}, ${next} and ${last} blocks`);
});

t.test('until its next turn, with a block on top that comes in time', async (t) => {
  const { marks, agreed, counts } = await withheld(({ weather }) => {
    weather.withhold(villain, 3 * LENGTH_MS + 400);
    weather.deafen(villain, 3 * LENGTH_MS + 400);
  });
  t.equal(marks, 0, 'nobody honest is marked');
  t.ok(agreed);
  const [first = 0, next = 0, last = 0] = counts;
  t.ok(Math.min(next, last) >= TIMES, `${first}, ${next} and ${last} blocks`);
});

t.test('all but its successor have it in time', async (t) => {
  const { marks, agreed, carried } = await withheld(({ weather }) => {
    weather.deafen(successor, LENGTH_MS + 1_000);
  });
  t.ok(carried >= TIMES - 1, `${carried} turns of lost blocks are carried`);
  t.equal(marks, 0, 'nobody honest is marked');
  t.ok(agreed);
});
