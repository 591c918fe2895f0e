import t from 'tap';
import type { Tx } from '../../../src/tx/transaction.ts';
import { mine, newChain, payment, replaced, users } from '../../chain/chain-harness.ts';
import { createTestPool, hearBlocks, memoryJournal } from '../pool-harness.ts';

const [alice, bob, carol] = users;

const idsOf = (list: Iterable<{ readonly bytes: Uint8Array }>): readonly Uint8Array[] =>
  Array.from(list, ({ bytes }) => bytes);

/** A pool that takes turns with other work at each transaction, and transactions of blocks that leave. */
async function readmitting(meanwhile: (txs: readonly Tx[]) => Promise<unknown>) {
  const at = await newChain();
  // Each is older than the one before.
  const txs = [alice, bob, carol].map((from, i) =>
    payment(from, alice, BigInt(i + 1), at.clock.time - i),
  );
  let time = 0;
  let done: Promise<unknown> | undefined;
  const clock = replaced(at.clock, {
    monotonic: () => (time += 3),
    async turn() {
      done ??= meanwhile(txs);
      await done;
    },
  });
  const journal = memoryJournal();
  const pool = createTestPool(at, { clock, journal });
  hearBlocks(at, () => pool);
  for (const tx of txs) await mine(at, [tx]);
  return {
    ...{ at, pool, journal, txs },
    async rollBack() {
      await at.blockchain.rollback(1);
      await pool.readmitted();
    },
  };
}

t.test('what arrives again meanwhile has its place among what comes back', async (t) => {
  const one = await readmitting((txs) => one.pool.submit(txs[1]!));
  await one.rollBack();
  t.same(idsOf(one.pool.inDoubt()), idsOf(one.txs));
  const next = createTestPool(one.at, { journal: memoryJournal(one.journal.records) });
  await next.recover();
  t.same(idsOf(next.inDoubt()), idsOf(one.txs), 'also after a restart');
});

t.test('what is mined again meanwhile does not come back', async (t) => {
  const one = await readmitting((txs) => mine(one.at, txs.slice(1, 2)));
  await one.rollBack();
  t.same(idsOf(one.pool.inOrder()), idsOf([one.txs[0]!, one.txs[2]!]));
});
