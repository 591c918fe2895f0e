// A node whose clock is behind by more than a round follows the chain: of each portion it takes the
// blocks of its past, although the last ones are of its future.
import t from 'tap';
import { cluster, heightsOf } from './cluster.ts';

const SKEW_MS = -3_000;

for (const [round, sync] of [
  [900, 100],
  [1_800, 200],
] as const) {
  const roundMs = round + sync;
  t.test(`rounds of ${roundMs} ms, ${-SKEW_MS} ms behind`, async (t) => {
    const at = await cluster(t, {
      miners: ['one', 'two', 'three'],
      others: ['behind'],
      set: [
        `blockchain.consensus.round-duration=${round}ms`,
        `blockchain.consensus.sync-duration=${sync}ms`,
      ],
    });
    const one = await at.start('one');
    for (const name of ['two', 'three']) await at.start(name);
    await at.seconds(40);
    const behind = await at.start('behind', { skewMs: SKEW_MS });
    await at.seconds(20);
    const most = Math.ceil(-SKEW_MS / roundMs) + 1;
    for (let i = 0; i < 10; i++) {
      await at.seconds(3);
      const [tip, own] = heightsOf([one, behind]);
      t.ok(tip! > 40_000 / roundMs && tip! - own! <= most, `${own} of ${tip}`);
    }
    t.strictSame(behind.log.of('peer.offence'), []);
  });
}
