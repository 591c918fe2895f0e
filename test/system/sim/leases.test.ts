// Leased stake and the blocks that it earns, over as many blocks as the generating balance looks back.

import t from 'tap';
import { findTransaction } from '../../../src/chain/store/stored-blocks.ts';
import { generatingBalance } from '../../../src/ledger/balance-history.ts';
import { lease } from '../../../src/tx/types/008-lease.ts';
import { FUNDS, signed } from '../../chain/chain-harness.ts';
import { Cluster } from './cluster.ts';
import { LENGTH_MS, memberOf } from './settings.ts';

/** Blocks that the generating balance is the least of. */
const DEPTH = 1000;
const LEASED = (FUNDS / 10n) * 9n;
const BLOCKS_MS_MAX = 3 * DEPTH * LENGTH_MS;

t.setTimeout(300_000);

t.test('scenario 35: stake that is leased out is gone at once, and counts late', async (t) => {
  const [lessor, lessee] = [memberOf(0), memberOf(1)];
  const rules = { consensus: 'pos', members: [lessor, lessee], quorum: 0 } as const;
  const cluster = new Cluster({ seed: 35, ...rules, acquainted: true });
  // One node is enough: it is about the blocks, and not about who makes them.
  cluster.start(0);
  await cluster.run(1_000);
  const height = (): number => cluster.nodes[0]!.blockchain.tip().height;
  const grow = (to: number) => cluster.runUntil(() => height() >= to, BLOCKS_MS_MAX);
  const generating = (of: typeof lessor, at = height()): bigint =>
    generatingBalance(cluster.nodes[0]!.blockchain.view, of.account.address, at);
  await grow(3);
  t.equal(generating(lessor), FUNDS);
  t.equal(generating(lessee), FUNDS);
  const fee = 1_000_000n;
  const tx = signed(lease, lessor.account, {
    recipient: { kind: 'address', bytes: lessee.account.address },
    amount: LEASED,
    fee,
    timestamp: cluster.world.now,
  } as never);
  const sent = cluster.submit(cluster.nodes[0]!, tx);
  const heightOfLease = () => findTransaction(cluster.nodes[0]!.blockchain.view, tx.id)?.height;
  t.ok(await cluster.runUntil(() => heightOfLease() !== undefined, BLOCKS_MS_MAX));
  t.ok(await sent);
  const leasedAt = heightOfLease()!;
  // What it paid as a fee it got as the maker of the block.
  t.equal(generating(lessor), FUNDS - LEASED, 'at once');
  t.equal(generating(lessee), FUNDS, 'not yet');
  await grow(leasedAt + DEPTH);
  // It is the least of the newest 1000 heights, that of the lease among them.
  t.equal(generating(lessee, leasedAt + DEPTH - 2), FUNDS, 'not before 1000 blocks');
  t.equal(generating(lessee, leasedAt + DEPTH - 1), FUNDS + LEASED);
  t.equal(generating(lessor, leasedAt + DEPTH - 1), FUNDS - LEASED);
  cluster.end();
});
