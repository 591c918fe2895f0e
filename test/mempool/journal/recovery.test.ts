// Records of the journal are judged while the node works: until then they are found, nothing
// overtakes them, and a crash loses none.

import t from 'tap';
import { VerifyQueueFullError } from '../../../src/adapters/verify/signature-queue.ts';
import { equal, latin1 } from '../../../src/base/bytes.ts';
import { apiError } from '../../../src/base/errors.ts';
import type { Verifier } from '../../../src/base/ports/verifier.ts';
import { Trial } from '../../../src/mempool/admission/trial.ts';
import { createBytesIndex } from '../../../src/mempool/entries/bytes-index.ts';
import { orderRecords } from '../../../src/mempool/journal/return-order.ts';
import { pack } from '../../../src/mempool/packer.ts';
import type { Pool, PoolOptions } from '../../../src/mempool/pool.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { buildTx } from '../../../src/tx/tx-bytes.ts';
import { createAlias } from '../../../src/tx/types/010-create-alias.ts';
import { data } from '../../../src/tx/types/012-data.ts';
import {
  FUNDS,
  mine,
  newChain,
  nextTurn,
  payment,
  quiet,
  replaced,
  rules,
  scheme,
  signed,
  type TestChain,
  users,
  verifier,
} from '../../chain/chain-harness.ts';
import { makeBlock } from '../../chain/make-block.ts';
import { NOBODY, scriptTx, transferTx } from '../../system/crash/witness/unsigned.ts';
import { createTestPool, hearBlocks, memoryJournal } from '../pool-harness.ts';

const [alice, bob, carol] = users;
const FEE = 1_000_000n;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Checks for records wait until they are let go; single checks do not. */
function held() {
  const gates: (() => void)[] = [];
  let isOpen = false;
  const slow: Verifier = {
    ...verifier,
    async verify(items) {
      if (!isOpen) await new Promise<void>((resolve) => gates.push(resolve));
      return verifier.verify(items);
    },
  };
  const open = (): void => {
    isOpen = true;
    for (const gate of gates) gate();
  };
  return { slow, open };
}

/** A pool that recovers these, and is in the middle of it. */
async function recovering(
  at: TestChain,
  records: readonly Uint8Array[],
  options: Partial<PoolOptions> = {},
) {
  const { slow, open } = held();
  const journal = memoryJournal(records);
  const pool = createTestPool(at, { verifier: slow, journal }, options);
  hearBlocks(at, () => pool);
  const done = pool.recover();
  await pool.whenRead();
  return {
    pool,
    journal,
    async finish() {
      open();
      await done;
    },
  };
}

const inBlocks = (pool: Pool): number => pool.inOrder().length;

t.test('a record that is not judged yet is found, and is no entry', async (t) => {
  const at = await newChain();
  const tx = payment(alice, bob, 1n, at.clock.time);
  const { pool, finish } = await recovering(at, [tx.bytes]);
  const index = createBytesIndex(pool, scheme.fastHash);
  const hash = latin1(scheme.fastHash(tx.bytes));
  t.same(pool.get(tx.id)?.bytes, tx.bytes);
  t.same(
    Array.from(pool.list(), ({ id }) => id),
    [tx.id],
  );
  t.equal(pool.size(), 1);
  t.equal(pool.bytes(), tx.bytes.length);
  t.ok(index.isKnown(hash), 'it is not fetched from a peer');
  t.equal(index.get(hash), undefined, 'and not given to one');
  t.equal(inBlocks(pool), 0);
  t.equal(pool.verdictsOn(tx), undefined);
  await finish();
  t.equal(inBlocks(pool), 1);
  t.same(pool.verdictsOn(tx)?.about(tx).own, [true]);
  t.equal(pool.size(), 1);
  t.equal(pool.bytes(), tx.bytes.length);
  t.same(index.get(hash)?.bytes, tx.bytes);
});

t.test('what its sender sends meanwhile does not overtake it; what others send does', async (t) => {
  const at = await newChain();
  const all = FUNDS - FEE;
  const first = payment(alice, bob, all, at.clock.time);
  const { pool, finish } = await recovering(at, [first.bytes]);
  const second = pool.submit(payment(alice, carol, all, at.clock.time));
  const refused = t.rejects(second, { message: /unavailable funds/ });
  const again = pool.submitBytes(first.bytes);
  await pool.submit(payment(bob, carol, 1n, at.clock.time));
  t.equal(inBlocks(pool), 1, 'that of another account');
  await finish();
  await refused;
  t.same((await again).id, first.id, 'the same once more is answered again');
  t.equal(pool.size(), 2);
});

t.test('those that arrive together with others are judged after older ones too', async (t) => {
  const at = await newChain();
  const first = payment(alice, bob, 1n, at.clock.time);
  for (const others of [[], [payment(bob, carol, 1n, at.clock.time)]]) {
    const { pool, finish } = await recovering(at, [first.bytes]);
    const late = payment(alice, carol, 2n, at.clock.time);
    const errors = pool.submitAll([late, ...others], false);
    await turn();
    await finish();
    t.same(await errors, [undefined, ...others.map(() => undefined)]);
    t.ok(pool.entry(late.id));
  }
});

t.test('its id is not taken', async (t) => {
  const at = await newChain();
  const claim = (from: typeof alice): Tx =>
    signed(createAlias, from, {
      alias: 'wanted',
      fee: 100_000_000n,
      timestamp: at.clock.time,
    } as never);
  const mineIt = claim(alice);
  const tx = payment(bob, carol, 1n, at.clock.time);
  const { pool, finish } = await recovering(at, [mineIt.bytes, tx.bytes]);
  const squatter = t.rejects(pool.submit(claim(carol)), { message: /Alias already claimed/ });
  const otherProofs = buildTx(tx.def, tx.layout, tx.fields, [new Uint8Array(64)], scheme);
  const rival = pool.submit(otherProofs);
  await finish();
  await squatter;
  t.same((await rival).bytes, tx.bytes, 'the first proofs stay');
});

t.test('the pool keeps room for it', async (t) => {
  const at = await newChain();
  const [one, two, three] = users.map((from) => payment(from, carol, 1n, at.clock.time));
  const bytesMax = 2 * one!.bytes.length + 1;
  const { pool, finish } = await recovering(at, [one!.bytes, two!.bytes], { bytesMax });
  await t.rejects(pool.submit(three!), { message: /size limit is reached/ });
  await finish();
  t.equal(inBlocks(pool), 2);
  await t.rejects(pool.submit(three!), { message: /size limit is reached/ });
  await mine(at, [one!]);
  await pool.submit(three!);
});

/** Many bytes of bob, by whose leaving the journal becomes too long. */
function large(at: TestChain): Tx[] {
  const value = new Uint8Array(32_000);
  return Array.from({ length: 100 }, (_, n) =>
    signed(
      data,
      bob,
      {
        authorPublicKey: bob.publicKey,
        data: Array.from({ length: 4 }, (_, i) => ({ key: `${n} ${i}`, type: 'binary', value })),
        fee: 1_00000000n,
        timestamp: at.clock.time,
      } as never,
      1,
    ),
  );
}

/** True where so much has come and gone that the journal was rewritten. */
async function rewritten(at: TestChain, pool: Pool, journal: Journal): Promise<boolean> {
  const before = inBlocks(pool);
  const all = large(at);
  for (const tx of all) await pool.submit(tx);
  while (inBlocks(pool) > before) {
    const { miner, time } = nextTurn(at);
    at.clock.time = time;
    await makeBlock(at.blockchain, miner, time, (draft) =>
      pack(pool, { bytesMax: 1_000_000, countMax: 100 }, draft, at.clock),
    );
    await turn();
  }
  return journal.records.length < all.length;
}

type Journal = ReturnType<typeof memoryJournal>;
const ROOM = { bytesMax: 200_000_000, senderEntriesMax: 1000 };

t.test('a rewrite of the journal in the middle keeps it', async (t) => {
  const at = await newChain();
  const tx = payment(alice, carol, 1n, at.clock.time);
  const { pool, journal, finish } = await recovering(at, [tx.bytes], ROOM);
  t.ok(await rewritten(at, pool, journal), 'it was rewritten');
  t.ok(journal.records.some((record) => equal(record, tx.bytes)));
  await finish();
  t.equal(inBlocks(pool), 1);
});

t.test('what cannot be read stays in the journal until the next start', async (t) => {
  const at = await newChain();
  const records = [alice, carol].map((from) => payment(from, bob, 1n, at.clock.time).bytes);
  const journal = memoryJournal(records);
  const state = replaced(new Trial(at.blockchain, rules, at.clock), {
    isMined(): boolean {
      throw new Error('the store does not answer');
    },
  });
  const pool = createTestPool(at, { journal, state }, ROOM);
  hearBlocks(at, () => pool);
  await pool.recover();
  t.equal(inBlocks(pool), 0);
  t.ok(await rewritten(at, pool, journal), 'it was rewritten');
  for (const bytes of records) t.ok(journal.records.some((record) => equal(record, bytes)));
});

t.test('a stop in the middle keeps it', async (t) => {
  const at = await newChain();
  const [mined, waits] = [alice, bob].map((from) => payment(from, carol, 1n, at.clock.time));
  const { pool, journal, finish } = await recovering(at, [mined!.bytes, waits!.bytes]);
  await mine(at, [mined!]);
  await turn();
  const stopping = pool.stop();
  await finish();
  await stopping;
  t.equal(inBlocks(pool), 0);
  t.same(journal.records, [mined!.bytes, waits!.bytes]);
  const next = createTestPool(at, { journal: memoryJournal(journal.records) });
  await next.recover();
  t.same(
    Array.from(next.list(), ({ id }) => id),
    [waits!.id],
  );
});

t.test('a journal with more than the pool may hold puts no good record in doubt', async (t) => {
  const at = await newChain();
  const records = users.map((user) => payment(user, bob, 1n, at.clock.time).bytes);
  const told: unknown[] = [];
  const log = { ...quiet, info: (event: string, fields: unknown) => told.push([event, fields]) };
  // Those that name an order are not counted.
  const journal = memoryJournal([...records, ...orderRecords(['x'.repeat(32)])]);
  const bytesMax = Math.floor(2.5 * records[0]!.length);
  const pool = createTestPool(at, { journal, log: log as never }, { bytesMax });
  await pool.recover();
  t.same(told, [['pool.recovered', { records: 3, accepted: 3, doubted: 0 }]]);
});

t.test('nobody waits for a pool that has stopped', async (t) => {
  const at = await newChain();
  const { pool, journal, finish } = await recovering(at, [
    payment(alice, bob, 1n, at.clock.time).bytes,
  ]);
  const late = t.rejects(pool.submit(payment(alice, carol, 1n, at.clock.time)), { code: 640 });
  journal.broken = true;
  await pool.stop();
  await late;
  await finish();
});

t.test('a recovery that waits for room ends with its pool', async (t) => {
  const at = await newChain();
  const full: Verifier = {
    ...verifier,
    verify: () => Promise.reject(new VerifyQueueFullError('no room')),
  };
  const journal = memoryJournal([payment(alice, bob, 1n, at.clock.time).bytes]);
  const pool = createTestPool(at, { verifier: full, journal });
  let isOver = false;
  const done = pool.recover().then(() => {
    isOver = true;
  });
  await pool.whenRead();
  for (let i = 0; i < 10; i++) await turn();
  t.notOk(isOver, 'the clock stands still');
  await pool.stop();
  for (let i = 0; i < 10; i++) await turn();
  t.ok(isOver);
  if (isOver) await done;
  t.equal(journal.records.length, 1);
});

t.test('what a block contains by then is not taken back', async (t) => {
  const at = await newChain();
  const tx = payment(alice, bob, 1n, at.clock.time);
  const other = payment(bob, carol, 1n, at.clock.time);
  const { pool, journal, finish } = await recovering(at, [tx.bytes, other.bytes]);
  await mine(at, [tx]);
  await finish();
  t.same(
    Array.from(pool.list(), ({ id }) => id),
    [other.id],
  );
  t.same(journal.records, [other.bytes], 'nor does it stay on the disk');
});

t.test('checks that found no room are made later', async (t) => {
  const at = await newChain();
  const timers: (() => void)[] = [];
  const clock = {
    ...at.clock,
    after(_ms: number, action: () => void) {
      timers.push(action);
      return () => {};
    },
  };
  let full = true;
  const busy: Verifier = {
    ...verifier,
    verify: (items) =>
      full ? Promise.reject(new VerifyQueueFullError('no room')) : verifier.verify(items),
  };
  const tx = payment(alice, bob, 1n, at.clock.time);
  const journal = memoryJournal([tx.bytes]);
  const pool = createTestPool({ ...at, clock }, { verifier: busy, journal });
  const before = timers.length;
  const done = pool.recover();
  await turn();
  t.equal(inBlocks(pool), 0);
  full = false;
  for (const timer of timers.slice(before)) timer();
  await done;
  t.equal(inBlocks(pool), 1);
});

t.test('many are judged in groups, in the order of the journal', async (t) => {
  const at = await newChain();
  const txs = Array.from({ length: 600 }, (_, i) =>
    payment(users[i % 3]!, carol, 1n + BigInt(i), at.clock.time),
  );
  const sizes: number[] = [];
  const counting: Verifier = {
    ...verifier,
    verify(items) {
      sizes.push(items.length);
      return verifier.verify(items);
    },
  };
  const journal = memoryJournal(txs.map(({ bytes }) => bytes));
  const options = { senderEntriesMax: 1000, bytesMax: 10_000_000 };
  const pool = createTestPool(at, { verifier: counting, journal }, options);
  const told: Uint8Array[] = [];
  pool.listen({ added: ({ bytes }) => told.push(bytes) });
  await pool.recover();
  t.same(sizes, [128, 128, 128, 128, 88]);
  t.same(told, journal.records);
});

/** On this chain the account of alice has this script from the next block on. */
async function withScript(
  source: string | undefined,
  at: TestChain,
  by: Pick<typeof alice, 'sign'>,
) {
  await mine(at, [scriptTx(alice, source, at.clock.time, by, scheme)]);
}

t.test('a record whose sender has lost its script needs its signature', async (t) => {
  const at = await newChain();
  await withScript('true', at, alice);
  const unsigned = transferTx(alice, bob.address, 1, at.clock.time, NOBODY, scheme);
  const good = transferTx(alice, bob.address, 2, at.clock.time, alice, scheme);
  const journal = memoryJournal();
  const before = createTestPool(at, { journal });
  await before.submit(unsigned);
  await before.submit(good);
  await withScript(undefined, at, NOBODY);
  const after = createTestPool(at, { journal: memoryJournal(journal.records) });
  hearBlocks(at, () => after);
  await after.recover();
  t.same(after.verdictsOn(unsigned)?.about(unsigned).own, [false]);
  t.same(after.verdictsOn(good)?.about(good).own, [true]);
  for (let i = 0; i < 6; i++) {
    await mine(at);
    await turn();
  }
  t.match(after.dropped(unsigned.id), /doesn't validate as signature/);
  t.equal(after.dropped(good.id), undefined);
});

t.test('of two records with one id, the later one was the last acknowledged', async (t) => {
  const at = await newChain();
  await withScript('true', at, alice);
  const unsigned = transferTx(alice, bob.address, 1, at.clock.time, NOBODY, scheme);
  const proven = transferTx(alice, bob.address, 1, at.clock.time, alice, scheme);
  t.same(unsigned.id, proven.id);
  const journal = memoryJournal();
  const before = createTestPool(at, { journal });
  hearBlocks(at, () => before);
  await before.submit(unsigned);
  await withScript(undefined, at, NOBODY);
  before.drop(before.entry(unsigned.id)!, apiError('Invalid', 'the script is gone'));
  await before.submit(proven);
  t.same(journal.records, [unsigned.bytes, proven.bytes]);
  const after = createTestPool(at, { journal: memoryJournal(journal.records) });
  await after.recover();
  t.same(after.entry(proven.id)?.bytes, proven.bytes);
  t.equal(after.size(), 1);
});
