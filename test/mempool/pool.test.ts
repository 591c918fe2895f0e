import t from 'tap';
import { concat, equal } from '../../src/base/bytes.ts';
import { apiError } from '../../src/base/errors.ts';
import type { Journal } from '../../src/base/ports/journal.ts';
import { createScriptTime } from '../../src/chain/apply/script-time.ts';
import { CodecError } from '../../src/codec/codec.ts';
import { Trial } from '../../src/mempool/admission/trial.ts';
import { idOf } from '../../src/mempool/entries/entry.ts';
import { pack } from '../../src/mempool/packer.ts';
import type { Pool, PoolOptions } from '../../src/mempool/pool.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { buildTx, decodeTx } from '../../src/tx/tx-bytes.ts';
import { createAlias } from '../../src/tx/types/010-create-alias.ts';
import { sponsorFee } from '../../src/tx/types/014-sponsor-fee.ts';
import {
  account,
  FUNDS,
  mine,
  newChain,
  nextTurn,
  payment,
  rules,
  scheme,
  signed,
  type TestChain,
  users,
  verifier,
} from '../chain/chain-harness.ts';
import { makeBlock } from '../chain/make-block.ts';
import { createTestPool, memoryJournal } from './pool-harness.ts';

const [alice, bob, carol] = users;
const FEE = 1_000_000n;

/** A pool that hears of blocks. */
function poolOn(
  at: TestChain,
  journal: Journal,
  options: Partial<PoolOptions> = {},
  checks = verifier,
): Pool {
  const pool = createTestPool(at, { journal, verifier: checks }, options);
  at.blockchain.listen({ block: ({ block }) => pool.removeMined(block.txs) });
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
    await pack(
      pool,
      { bytesMax: 10_000, countMax: 10 },
      { add: (tx) => void order.push(tx.id) },
      at.clock,
    );
    t.same(order, [earlier.id, later.id]);
    await mine(at, [earlier]);
    t.equal(pool.get(earlier.id), undefined);
    t.same(pool.get(later.id)?.bytes, later.bytes);
    t.ok(pool.verdictsOn(later));
  },
);

t.test('bytes from elsewhere are copied, and must be a transaction', async (t) => {
  const at = await newChain();
  const pool = poolOn(at, memoryJournal());
  const tx = payment(alice, bob, 1n, at.clock.time);
  const theirs = concat(tx.bytes);
  const both = [pool.submitBytes(theirs), pool.submitBytes(theirs)];
  theirs.fill(0);
  for (const accepted of await Promise.all(both)) t.same(accepted.bytes, tx.bytes);
  t.equal(pool.size(), 1);
  t.same(pool.get(tx.id)?.fields, tx.fields);
  await t.rejects(pool.submitBytes(tx.bytes.subarray(1)), CodecError);
  const poor = account('somebody without funds');
  const wrong = payment(poor, bob, 1n, at.clock.time).bytes.slice();
  wrong[wrong.length - 1]! ^= 1;
  const unsigned = pool.submitBytes(wrong);
  await t.rejects(unsigned, { message: /doesn't validate as signature/ }, 'first the signature');
  const doubted = pool.submitBytes(wrong, { isDoubted: true });
  await t.rejects(doubted, { message: /unavailable funds/ }, 'first the state');
});

t.test('what was computed about bytes from elsewhere is not computed again', async (t) => {
  const at = await newChain();
  const pool = poolOn(at, memoryJournal());
  const { bytes, id } = payment(alice, bob, 1n, at.clock.time);
  t.equal((await pool.submitBytes(bytes, { id, bytesHash: 'as told' })).id, id);
  t.equal(pool.entry(id)?.bytesHash, 'as told');
});

t.test('a block takes a transaction, refuses it, or has no more of something for it', async (t) => {
  const at = await newChain();
  const pool = poolOn(at, memoryJournal());
  const txs = [1n, 2n, 3n, 4n].map((amount) => payment(alice, bob, amount, at.clock.time));
  for (const tx of txs) await pool.submit(tx);
  const [first, second, third, fourth] = [...pool.list()] as [Tx, Tx, Tx, Tx];
  const size = first.bytes.length;
  const packed: Uint8Array[] = [];
  const add = ({ id }: Tx): void => {
    if (equal(id, second.id)) throw apiError('BlockFull', 'runs');
    if (equal(id, third.id)) throw apiError('Overflow');
    packed.push(id);
  };
  const left = await pack(pool, { bytesMax: size * 4, countMax: 10 }, { add }, at.clock);
  t.same(packed, [first.id, fourth.id]);
  t.same(left, { bytes: size * 2, count: 8, isFull: false });
  t.same(
    [...pool.list()].map(({ id }) => id),
    [first.id, second.id, fourth.id],
  );
  t.equal(pool.dropped(second.id), undefined);
  t.match(pool.dropped(third.id), /overflow/);
});

t.test('packing ends at its deadline, and what is left waits', async (t) => {
  const at = await newChain();
  const pool = poolOn(at, memoryJournal());
  for (const amount of [1n, 2n, 3n]) await pool.submit(payment(alice, bob, amount, at.clock.time));
  const deadline = at.clock.time + 2;
  const packed: Tx[] = [];
  const add = (tx: Tx): void => {
    packed.push(tx);
    at.clock.time += 1;
  };
  await pack(pool, { bytesMax: 10_000, countMax: 10, deadline }, { add }, at.clock);
  t.equal(packed.length, 2);
  t.equal(pool.size(), 3);
});

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
  const bad = buildTx(good.def, good.layout, good.fields, [new Uint8Array(64)], scheme);
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
      add: (tx: typeof pooled) =>
        void new Trial(blockchain, rules, clock).tryApply(
          tx,
          unchecked(tx),
          createScriptTime(clock),
        ),
    };
    await pack(pool, { bytesMax: 10_000, countMax: 10 }, draft, clock);
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

t.test('transactions that build on one another come back in a full pool', async (t) => {
  const at = await newChain();
  const dave = account('dave');
  const first = payment(alice, dave, 5n * FEE, at.clock.time + 9);
  // By a clock that is behind, so that it looks older than what it builds on.
  const second = payment(dave, bob, 4n * FEE, at.clock.time - 60_000);
  const others = users.map((from) => payment(from, carol, 1n, at.clock.time));
  const pool = poolOn(at, memoryJournal(), { bytesMax: first.bytes.length * 10 + 5 });
  await mine(at, [first]);
  await mine(at, [second]);
  for (const tx of others) await pool.submit(tx);
  await pool.readmit(await at.blockchain.rollback(1));
  t.equal(pool.size(), 5);
  const room = pool.bytes();
  await t.rejects(pool.submit(payment(alice, bob, 1n, at.clock.time)), { code: 199 });
  const told: Uint8Array[] = [];
  pool.listen({ added: (entry) => told.push(idOf(entry)) });
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  await makeBlock(at.blockchain, miner, time, (draft) =>
    pack(pool, { bytesMax: room, countMax: 1 }, draft, at.clock),
  );
  await turn();
  t.same(told, [second.id], 'peers hear of it when it can stand alone');
  await mine(at, [...pool.list()]);
  t.equal(pool.size(), 0);
});

t.test('what a branch has made impossible leaves with its reason after some blocks', async (t) => {
  const at = await newChain();
  const pool = poolOn(at, memoryJournal());
  const lost = payment(alice, bob, FUNDS - FEE, at.clock.time);
  await mine(at, [lost]);
  const taken = await at.blockchain.rollback(1);
  await mine(at, [payment(alice, carol, FUNDS / 2n, at.clock.time)]);
  await pool.readmit(taken);
  t.equal(pool.size(), 1);
  for (let i = 0; i < 6; i++) {
    await mine(at);
    await turn();
  }
  t.equal(pool.size(), 0);
  t.match(pool.dropped(lost.id), /unavailable funds/);
});

t.test('a crash in the middle of a reorganisation loses nothing', async (t) => {
  const at = await newChain();
  const dave = account('dave');
  const first = payment(alice, dave, 5n * FEE, at.clock.time);
  const second = payment(dave, bob, 4n * FEE, at.clock.time);
  const journal = memoryJournal();
  const before = poolOn(at, journal);
  // A client's, so that the journal has it before what it builds on.
  await mine(at, [first]);
  await before.submit(second);
  await mine(at, [second]);
  at.blockchain.listen({ rollingBack: (txs) => before.keep(txs) });
  await at.blockchain.rollback(1);
  const after = poolOn(at, memoryJournal(journal.records));
  await after.recover();
  t.equal(after.size(), 2);
  await mine(at, [...after.list()]);
  t.equal(after.size(), 0);
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

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
  const bad = decodeTx(spoilt, scheme);
  t.same(bad.id, good.id);
  const [refusal, accepted] = await Promise.allSettled([pool.submit(bad), pool.submit(good)]);
  t.match(refusal, { status: 'rejected' });
  t.match(accepted, { status: 'fulfilled' });
  t.same(pool.get(good.id)?.bytes, good.bytes);
});

t.test('a type 14 whose bytes fit both of its layouts is refused', async (t) => {
  const at = await newChain();
  const journal = memoryJournal();
  const pool = poolOn(at, journal, {}, { ...verifier, verifyOne: async () => true });
  const bySwitch = sponsorFee.layouts.find(({ variant }) => variant === 'switch')!;
  // From its third byte on it looks like the list of proofs of the other layout, whose time ends
  // with the two bytes before.
  const proof = concat(Uint8Array.of(0, 0, 1, 0, 1, 0, 57), new Uint8Array(57));
  const tx = buildTx(
    sponsorFee,
    bySwitch,
    {
      senderPublicKey: alice.publicKey,
      assetId: new Uint8Array(32),
      isEnabled: true,
      fee: 100_000_000n,
      timestamp: Math.floor(at.clock.time / 256) * 256,
    },
    [proof],
    scheme,
  );
  t.throws(() => decodeTx(tx.bytes, scheme), { message: /more than one layout/ });
  await t.rejects(pool.submit(tx as never), { code: 199, message: /more than one layout/ });
  t.equal(pool.size(), 0);
  t.strictSame(journal.records, []);
});
