// How many other miners must be connected: a majority with this node, or what the setting says.
import t from 'tap';
import { majorityOf } from '../../src/chain/apply/counted-miners.ts';
import { SlotMiner } from '../../src/miner/miner.ts';
import { quiet } from '../chain/chain-harness.ts';
import { fakeClock } from '../node/fake-clock.ts';

const START = 1_700_000_000_000;

/** True where a miner in a network of `miners` makes a block with this many others connected. */
async function mines(miners: number, connected: number, quorum?: number): Promise<boolean> {
  const clock = fakeClock(START);
  let forged = false;
  const miner = new SlotMiner(
    { enabled: true, quorum, noQuorumDelayMs: 1000, staleTipMs: 30_000 },
    {
      clock,
      log: quiet,
      connectedMiners: () => connected,
      majority: () => majorityOf(miners),
      isRemovedFromNetwork: () => false,
      chain: {
        tip: () => ({ height: 5, timestamp: START }),
        nextSlot: (now) => (forged ? undefined : { start: now, from: now, until: START + 60_000 }),
        isUsed: () => false,
        unfinished: { waits: () => false, finish: async () => undefined },
        produceBlock: async () => {
          forged = true;
        },
        onHead: () => () => undefined,
      },
    },
  );
  miner.start();
  await clock.advance(5_000);
  await miner.stop();
  return forged;
}

t.test('a majority with the node itself', async (t) => {
  const expected = [0, 0, 1, 1, 2, 2, 3, 3, 4];
  t.strictSame(
    expected.map((_, n) => majorityOf(n)),
    expected,
  );
  for (const [n, others] of expected.entries()) {
    if (n > 1) t.ok(2 * (others + 1) > n, `${others} and itself are more than half of ${n}`);
    t.ok(await mines(n, others), `${n} miners, ${others} of them connected`);
    if (others > 0) t.notOk(await mines(n, others - 1), `${n} miners, one fewer connected`);
  }
});

t.test('a setting wins', async (t) => {
  t.ok(await mines(7, 0, 0));
  t.ok(await mines(7, 1, 1));
  t.notOk(await mines(7, 3, 4));
});
