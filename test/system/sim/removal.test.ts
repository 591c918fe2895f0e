// A member that a type 111 removes stands still: it could not take back a chain of its own once
// that is longer than `max-rollback`. It is back as soon as it is registered again.
import t from 'tap';
import { isParticipant } from '../../../src/ledger/participants.ts';
import { disagreement } from './checkers.ts';
import { Cluster } from './cluster.ts';
import { type ConsensusKind, LENGTH_MS, memberOf, ROLLBACK_MAX } from './settings.ts';
import { createWorkload } from './workload.ts';

const MINUTE_MS = 60_000;
/** In this time one of three makes more blocks than it could take back. */
const AWAY_MS: Readonly<Record<ConsensusKind, number>> = {
  pos: 2 * ROLLBACK_MAX * LENGTH_MS,
  poa: 4 * ROLLBACK_MAX * LENGTH_MS,
};

t.setTimeout(300_000);

for (const consensus of ['poa', 'pos'] as const) {
  t.test(
    `removed for ${Math.round(AWAY_MS[consensus] / MINUTE_MS)} minutes, ${consensus}`,
    async (t) => {
      const members = [0, 1, 2].map((i) => memberOf(i));
      const cluster = new Cluster({ seed: 98, consensus, members, quorum: 0, acquainted: true });
      for (const i of members.keys()) cluster.start(i);
      await cluster.run(MINUTE_MS);
      const [first, , last] = cluster.running();
      const { address } = members[2]!.account;
      const workload = createWorkload(cluster.dice.u32());
      const isKnown = (): boolean =>
        cluster.running().every(({ blockchain }) => isParticipant(blockchain.view, address));
      const register = (opType: 'add' | 'remove') =>
        cluster.submit(first!, workload.register(cluster.world.now, members[2]!, opType));

      cluster.guard(register('remove'));
      const isOut = (): boolean => !isParticipant(last!.blockchain.view, address);
      t.ok(await cluster.runUntil(isOut, 2 * MINUTE_MS), 'it takes the block that removes it');
      const { height } = last!.blockchain.tip();
      await cluster.run(AWAY_MS[consensus]);
      t.equal(last!.blockchain.tip().height, height, 'and makes none after it');
      t.ok(first!.blockchain.tip().height > height + ROLLBACK_MAX, 'the others go on');

      cluster.guard(register('add'));
      const isWhole = (): boolean => isKnown() && disagreement(cluster.running()) === undefined;
      t.ok(await cluster.runUntil(isWhole, 4 * MINUTE_MS), `${disagreement(cluster.running())}`);
      const { height: back } = first!.blockchain.tip();
      await cluster.run(2 * MINUTE_MS);
      t.ok(cluster.makersSince(back).includes(last!.name), 'it makes blocks again');
      cluster.end();
    },
  );
}
