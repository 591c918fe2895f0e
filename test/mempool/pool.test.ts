import t from 'tap';
import type { Journal } from '../../src/base/ports.ts';
import { pack } from '../../src/mempool/packer.ts';
import { createPool, type Pool, type PoolOptions } from '../../src/mempool/pool.ts';
import { createTrial } from '../../src/mempool/trial.ts';
import { decodeTx } from '../../src/tx/bytes.ts';
import { createAlias } from '../../src/tx/types/010-create-alias.ts';
import {
  chain,
  FUNDS,
  mine,
  network,
  newChain,
  payment,
  quiet,
  signed,
  type TestChain,
  users,
  verifier,
} from '../chain/chain-harness.ts';

const [alice, bob, carol] = users as [(typeof users)[0], (typeof users)[0], (typeof users)[0]];
const FEE = 1_000_000n;
const HOUR_MS = 3_600_000;

/** A journal in memory that can be made to fail. */
function memoryJournal(recovered: readonly Uint8Array[] = []) {
  const journal = {
    recovered,
    records: [...recovered],
    broken: false,
    async append(record: Uint8Array) {
      if (journal.broken) throw new Error('no space left on device');
      journal.records.push(record.slice());
    },
    async rewrite(records: Iterable<Uint8Array>) {
      journal.records = [...records];
    },
    close: async () => undefined,
  };
  return journal;
}

function poolOn(at: TestChain, journal: Journal, options: Partial<PoolOptions> = {}): Pool {
  const pool = createPool(
    {
      bytesMax: 1_000_000,
      senderEntriesMax: 100,
      expireMs: 2 * HOUR_MS,
      cleanupMs: HOUR_MS,
      nativeToken: 'WEST',
      ...options,
    },
    {
      chain,
      state: createTrial(at.blockchain, network, at.clock),
      verifier,
      journal,
      clock: at.clock,
      log: quiet,
    },
  );
  at.blockchain.listen({ block: ({ block }) => pool.removeMined(block.txs.map((tx) => tx.id)) });
  return pool;
}

t.test(
  'an accepted transaction is in the journal, in the pool once, and mined in time order',
  async (t) => {
    const at = await newChain();
    const journal = memoryJournal();
    const pool = poolOn(at, journal);
    const later = payment(alice, bob, 1n, at.clock.time + 5000);
    const earlier = payment(bob, carol, 1n, at.clock.time);
    t.equal(await pool.submit(later), later);
    await pool.submit(earlier);
    t.same((await pool.submit(later)).id, later.id, 'a second time is no error');
    t.equal(pool.size(), 2);
    t.equal(journal.records.length, 2);
    t.equal(pool.bytes(), later.bytes.length + earlier.bytes.length);
    const order: Uint8Array[] = [];
    await pack(pool, { bytesMax: 10_000, countMax: 10 }, (tx) => order.push(tx.id), at.clock);
    t.same(order, [earlier.id, later.id]);
    await mine(at, [earlier]);
    t.equal(pool.get(earlier.id), undefined);
    t.same(pool.get(later.id)?.bytes, later.bytes);
    t.ok(pool.holds(later));
  },
);

t.test('what a sender spends in the pool counts together', async (t) => {
  const at = await newChain();
  const pool = poolOn(at, memoryJournal());
  await pool.submit(payment(alice, bob, FUNDS / 2n, at.clock.time));
  await t.rejects(pool.submit(payment(alice, carol, FUNDS / 2n, at.clock.time)), {
    code: 112,
    message: /Attempt to transfer unavailable funds/,
  });
  await pool.submit(payment(alice, carol, FUNDS / 2n - 2n * FEE, at.clock.time));
  t.equal(pool.size(), 2);
});

t.test('scenario 74: a full pool refuses the newcomer and takes it after a block', async (t) => {
  const at = await newChain();
  const first = payment(alice, bob, 1n, at.clock.time);
  const second = payment(bob, carol, 1n, at.clock.time);
  const size = first.bytes.length;
  const pool = poolOn(at, memoryJournal(), { bytesMax: size * 10 + 5, senderEntriesMax: 100 });
  const crowd = users.map((from) => payment(from, bob, 2n, at.clock.time));
  for (const tx of crowd.slice(0, 2)) await pool.submit(tx);
  await t.rejects(
    pool.submit(first),
    {
      code: 199,
      message: 'Transaction pool bytes size limit is reached',
    },
    'a sender has a tenth of the pool at most',
  );
  t.notOk(pool.get(first.id));
  await mine(at, crowd.slice(0, 2));
  await pool.submit(first);
  await pool.submit(second);
  t.equal(pool.size(), 2);
});

t.test('a sender may have so many entries and no more', async (t) => {
  const at = await newChain();
  const pool = poolOn(at, memoryJournal(), { senderEntriesMax: 3 });
  for (let i = 0; i < 3; i++) await pool.submit(payment(alice, bob, 1n, at.clock.time));
  await t.rejects(pool.submit(payment(alice, bob, 1n, at.clock.time)), { code: 199 });
  await pool.submit(payment(bob, alice, 1n, at.clock.time));
});

t.test('a wrong signature is refused and a repaired transaction accepted', async (t) => {
  const at = await newChain();
  const pool = poolOn(at, memoryJournal());
  const good = payment(alice, bob, 1n, at.clock.time);
  const bad = { ...good, proofs: [new Uint8Array(64)] };
  await t.rejects(pool.submit(bad), { code: 112, message: /proof doesn't validate as signature/ });
  t.equal(pool.size(), 0);
  await pool.submit(good);
});

t.test(
  'scenario 75: what a block makes invalid leaves with its reason when it is packed',
  async (t) => {
    const at = await newChain();
    const pool = poolOn(at, memoryJournal());
    const pooled = payment(alice, bob, FUNDS - 2n * FEE, at.clock.time);
    await pool.submit(pooled);
    await mine(at, [payment(alice, carol, FUNDS / 2n, at.clock.time)]);
    const { blockchain, clock } = at;
    const draft = {
      add: (tx: typeof pooled) => void createTrial(blockchain, network, clock).tryApply(tx),
    };
    await pack(pool, { bytesMax: 10_000, countMax: 10 }, draft.add, clock);
    t.equal(pool.size(), 0);
    t.match(pool.dropped(pooled.id), /unavailable funds/);
  },
);

t.test('the pool survives a restart, without what was mined in between', async (t) => {
  const at = await newChain();
  const journal = memoryJournal();
  const before = poolOn(at, journal);
  const mined = payment(alice, bob, 1n, at.clock.time);
  const kept = payment(bob, carol, 1n, at.clock.time);
  await before.submit(mined);
  await before.submit(kept);
  await mine(at, [mined]);
  const again = memoryJournal(journal.records);
  const after = poolOn(at, again);
  await after.recover();
  t.equal(after.size(), 1);
  t.same(after.get(kept.id)?.bytes, kept.bytes);
  t.same(again.records, [kept.bytes], 'the journal holds no more than the pool');
  t.equal(after.dropped(mined.id), undefined, 'it has not left without a block');
});

t.test('nothing is accepted that could not be made durable', async (t) => {
  const at = await newChain();
  const journal = memoryJournal();
  const pool = poolOn(at, journal);
  journal.broken = true;
  const tx = payment(alice, bob, 1n, at.clock.time);
  await t.rejects(pool.submit(tx), { code: 640 });
  t.equal(pool.size(), 0);
  journal.broken = false;
  await pool.submit(tx);
});

t.test('transactions of removed blocks come back', async (t) => {
  const at = await newChain();
  const pool = poolOn(at, memoryJournal());
  const tx = payment(alice, bob, 1n, at.clock.time);
  await pool.submit(tx);
  await mine(at, [tx]);
  t.equal(pool.size(), 0);
  await pool.readmit(await at.blockchain.rollback(1));
  t.equal(pool.size(), 1);
});

t.test('an alias that two accounts ask for goes to the first', async (t) => {
  const at = await newChain();
  const pool = poolOn(at, memoryJournal());
  const claim = (from: typeof alice) =>
    signed(createAlias, from, {
      alias: 'wanted',
      fee: 100_000_000n,
      timestamp: at.clock.time,
    } as never);
  const mine = claim(alice);
  const yours = claim(bob);
  t.same(mine.id, yours.id, 'the id of an alias does not tell who asks');
  await pool.submit(mine);
  await t.rejects(pool.submit(yours), { code: 112, message: /Alias already claimed/ });
  t.same(pool.get(mine.id)?.sender, alice.address);
});

t.test('a copy with a wrong proof does not decide about the good one', async (t) => {
  const at = await newChain();
  const pool = poolOn(at, memoryJournal());
  const good = payment(alice, bob, 1n, at.clock.time);
  const spoilt = good.bytes.slice();
  spoilt[spoilt.length - 1]! ^= 1;
  const bad = decodeTx(spoilt, chain);
  t.same(bad.id, good.id);
  const [refusal, accepted] = await Promise.allSettled([pool.submit(bad), pool.submit(good)]);
  t.match(refusal, { status: 'rejected' });
  t.match(accepted, { status: 'fulfilled' });
  t.same(pool.get(good.id)?.bytes, good.bytes);
});
