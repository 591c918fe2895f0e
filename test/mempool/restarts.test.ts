// What came back from rolled-back blocks keeps the order of its chain across a restart.
import t from 'tap';
import { JournalTooLongError } from '../../src/base/faults/journal-full.ts';
import { REFUSALS_MAX } from '../../src/mempool/admission/evictions.ts';
import { Trial } from '../../src/mempool/admission/trial.ts';
import { orderRecords } from '../../src/mempool/journal/return-order.ts';
import type { Pool } from '../../src/mempool/pool.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import {
  FUNDS,
  mine,
  newChain,
  payment,
  replaced,
  rules,
  type TestChain,
  users,
} from '../chain/chain-harness.ts';
import { createTestPool, hearBlocks, memoryJournal } from './pool-harness.ts';

const [alice, bob, carol] = users;

/** A pool of this chain that has a new process after each crash. */
async function restartable() {
  const at = await newChain();
  let journal = memoryJournal();
  let pool = createTestPool(at, { journal });
  hearBlocks(at, () => pool);
  return {
    at,
    get pool(): Pool {
      return pool;
    },
    get records(): readonly Uint8Array[] {
      return journal.records;
    },
    async crash(): Promise<void> {
      await pool.stop();
      journal = memoryJournal(journal.records);
      pool = createTestPool(at, { journal });
      await pool.recover();
    },
  };
}

/** Each is older than the one before. */
const olderAndOlder = ({ clock }: TestChain, count: number): readonly Tx[] =>
  Array.from({ length: count }, (_, i) =>
    payment(users[i % 3]!, carol, BigInt(i + 1), clock.time - i),
  );

const idsOf = (list: Iterable<{ readonly bytes: Uint8Array }>): readonly Uint8Array[] =>
  Array.from(list, ({ bytes }) => bytes);

t.test('one reorganisation', async (t) => {
  const one = await restartable();
  const txs = olderAndOlder(one.at, 6);
  for (const tx of txs) await one.pool.submit(tx);
  for (const tx of txs) await mine(one.at, [tx]);
  const young = payment(alice, bob, 7n, one.at.clock.time - 100);
  await one.pool.submit(young);
  await one.at.blockchain.rollback(1);
  await one.pool.readmitted();
  for (let i = 0; i < 3; i++) {
    await one.crash();
    t.same(idsOf(one.pool.inDoubt()), idsOf(txs));
    t.same(idsOf(one.pool.inOrder()), idsOf([...txs, young]));
  }
});

t.test('what a deeper one takes back comes first', async (t) => {
  const one = await restartable();
  const txs = olderAndOlder(one.at, 6);
  for (const tx of txs) await mine(one.at, [tx]);
  for (const height of [5, 3, 1]) {
    await one.at.blockchain.rollback(height);
    await one.pool.readmitted();
  }
  await one.crash();
  t.same(idsOf(one.pool.inDoubt()), idsOf(txs));
});

t.test('what is refused alone keeps its place', async (t) => {
  const one = await restartable();
  const { at } = one;
  const first = payment(carol, bob, FUNDS - 1_000_000n, at.clock.time);
  // The head refuses it, since it spends what the first one brings.
  const second = payment(bob, alice, (3n * FUNDS) / 2n, at.clock.time - 1);
  const third = payment(alice, carol, 1n, at.clock.time - 2);
  const txs = [first, second, third];
  for (const tx of txs) await mine(at, [tx]);
  await at.blockchain.rollback(1);
  await one.pool.readmitted();
  for (let i = 0; i < 2; i++) {
    await one.crash();
    t.same(idsOf(one.pool.inDoubt()), idsOf(txs));
  }
  for (const tx of one.pool.inOrder()) await mine(at, [one.pool.decode(tx)]);
  t.equal(one.pool.size(), 0);
});

t.test('a journal that is rewritten keeps it', async (t) => {
  const one = await restartable();
  const txs = olderAndOlder(one.at, 4);
  for (const tx of txs) await mine(one.at, [tx]);
  await one.at.blockchain.rollback(1);
  await one.pool.readmitted();
  const before = one.records.length;
  // A record that is mined makes the end of the recovery rewrite the journal.
  await mine(one.at, txs.slice(0, 1));
  await one.crash();
  t.ok(one.records.length < before);
  await one.crash();
  t.same(idsOf(one.pool.inDoubt()), idsOf(txs.slice(1)));
});

t.test('a crash before the blocks have left leaves nothing in doubt', async (t) => {
  const one = await restartable();
  const txs = olderAndOlder(one.at, 3);
  for (const tx of txs) await mine(one.at, [tx]);
  await one.pool.keep(txs);
  await one.crash();
  t.equal(one.pool.size(), 0);
  t.same(idsOf(one.pool.inDoubt()), []);
});

t.test('a journal that is rewritten while it is read keeps it', async (t) => {
  const one = await restartable();
  const { at } = one;
  const txs = olderAndOlder(at, 4);
  for (const tx of txs) await mine(at, [tx]);
  await at.blockchain.rollback(1);
  await one.pool.readmitted();
  await one.pool.stop();
  const journal = memoryJournal(one.records);
  journal.append = async () => {
    throw new JournalTooLongError('2 GB');
  };
  let kept: Promise<void> | undefined;
  let time = 0;
  const clock = replaced(at.clock, {
    // Each record takes a slice of its own.
    monotonic: () => (time += 3),
    async turn() {
      kept ??= pool.keep([payment(bob, alice, 9n, at.clock.time)]);
      await kept;
    },
  });
  const pool = createTestPool(at, { journal, clock });
  await pool.recover();
  t.not(kept, undefined);
  const next = createTestPool(at, { journal: memoryJournal(journal.records) });
  await next.recover();
  t.same(idsOf(next.inDoubt()).slice(-4), idsOf(txs));
});

t.test('what the heads refuse leaves', async (t) => {
  const one = await restartable();
  const { at } = one;
  const spent = payment(bob, carol, (2n * FUNDS) / 3n, at.clock.time);
  const waits = payment(alice, carol, 1n, at.clock.time - 1);
  for (const tx of [spent, waits]) await mine(at, [tx]);
  await at.blockchain.rollback(1);
  await one.pool.readmitted();
  await mine(at, [payment(bob, alice, (2n * FUNDS) / 3n, at.clock.time)]);
  await one.crash();
  t.same(idsOf(one.pool.inDoubt()), idsOf([spent, waits]));
  for (let i = 1; i < REFUSALS_MAX; i++) {
    t.ok(one.pool.get(spent.id));
    await mine(at, []);
  }
  t.match(one.pool.dropped(spent.id), /negative/);
  t.same(idsOf(one.pool.inDoubt()), idsOf([waits]));
});

t.test('a long order is read in turns with other work', async (t) => {
  const at = await newChain();
  const keys = Array.from({ length: 100 }, (_, i) => String.fromCharCode(i).repeat(32));
  let [time, turns] = [0, 0];
  const clock = replaced(at.clock, {
    monotonic: () => (time += 3),
    async turn() {
      turns++;
    },
  });
  const pool = createTestPool(at, { journal: memoryJournal(orderRecords(keys)), clock });
  await pool.recover();
  t.ok(turns >= keys.length);
});

t.test('it is in doubt as soon as it is an entry', async (t) => {
  const one = await restartable();
  const { at } = one;
  const tx = payment(alice, bob, 1n, at.clock.time);
  await mine(at, [tx]);
  await at.blockchain.rollback(1);
  await one.pool.readmitted();
  await one.pool.stop();
  const trial = new Trial(at.blockchain, rules, at.clock);
  const seen: boolean[] = [];
  const state = replaced(trial, {
    tryApply(...args) {
      // What waits for its turn runs before the recovery goes on.
      queueMicrotask(() => seen.push(...pool.inOrder().map(pool.isInDoubt)));
      return trial.tryApply(...args);
    },
  });
  const pool = createTestPool(at, { state, journal: memoryJournal(one.records) });
  await pool.recover();
  t.strictSame(seen, [true]);
});
