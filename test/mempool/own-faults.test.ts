// A failure of this machine is no verdict on a transaction: it stays in the pool, and who sent it is
// told that the node could not do its part.
import t from 'tap';
import { OwnFailure } from '../../src/base/errors.ts';
import { Trial } from '../../src/mempool/admission/trial.ts';
import { pack } from '../../src/mempool/packer.ts';
import type { PoolChain } from '../../src/mempool/pool-chain.ts';
import { mine, newChain, payment, quiet, replaced, rules, users } from '../chain/chain-harness.ts';
import { createTestPool, memoryJournal } from './pool-harness.ts';

const [alice, bob] = users;
const LIMITS = { bytesMax: 1_000_000, countMax: 100 };
const CLEANUP_MS = 300_000;

const unreadable = (): never => {
  throw Object.assign(new Error('read failed'), { code: 'EIO', errno: -5, syscall: 'read' });
};

/** A pool whose view of the state fails when the test says so. */
async function setUp() {
  const at = await newChain();
  const state = { fails: false };
  const trial = new Trial(at.blockchain, rules, at.clock);
  const chain = replaced<PoolChain>(trial, {
    tryApply: (...args) => (state.fails ? unreadable() : trial.tryApply(...args)),
    together() {
      const all = trial.together();
      return {
        ...all,
        tryApply: (...args) => (state.fails ? unreadable() : all.tryApply(...args)),
      };
    },
  });
  let round: () => void = () => undefined;
  at.clock.after = (ms, action) => {
    if (ms === CLEANUP_MS) round = action;
    return () => undefined;
  };
  const events: string[] = [];
  const log = { ...quiet, error: (event: string) => void events.push(event) };
  const low = { isLow: false };
  const journal = memoryJournal();
  const ports = { state: chain, log, journal, isDiskLow: () => low.isLow };
  const pool = createTestPool(at, ports, { cleanupMs: CLEANUP_MS });
  return { at, pool, state, events, low, journal, cleanUp: () => round() };
}

t.test('a block in the making drops nothing', async (t) => {
  const { at, pool } = await setUp();
  const tx = await pool.submit(payment(alice, bob, 5n, at.clock.time));
  await t.rejects(pack(pool, LIMITS, { add: unreadable }, at.clock), /read failed/);
  t.equal(pool.size(), 1);
  t.equal(pool.dropped(tx.id), undefined);
  await mine(at);
  const height = at.blockchain.tip().height;
  const packed: unknown[] = [];
  await pack(pool, LIMITS, { add: (tx) => void packed.push(tx.id) }, at.clock);
  t.strictSame(packed, [tx.id], `at ${height}`);
});

t.test('the cleanup drops nothing, and goes on', async (t) => {
  const { at, pool, state, events, cleanUp } = await setUp();
  const tx = await pool.submit(payment(alice, bob, 5n, at.clock.time));
  for (const fails of [true, false]) {
    state.fails = fails;
    cleanUp();
    await new Promise(setImmediate);
    t.equal(pool.size(), 1);
    t.equal(pool.dropped(tx.id), undefined);
    t.strictSame(events, ['pool.check-failed']);
  }
});

t.test('transactions of rolled-back blocks stay in doubt', async (t) => {
  const { at, pool, state, events } = await setUp();
  const tx = payment(alice, bob, 5n, at.clock.time);
  state.fails = true;
  for (let i = 0; i < 7; i++) await pool.readmit([tx]);
  t.ok(events.length > 0);
  t.equal(pool.size(), 1);
  state.fails = false;
  await pool.readmit([]);
  t.equal(pool.dropped(tx.id), undefined);
});

t.test('a new one is refused with 503', async (t) => {
  const { at, pool, state, low, journal } = await setUp();
  const tx = payment(alice, bob, 5n, at.clock.time);
  low.isLow = true;
  const full = { status: 503, code: 640, entry: 'DiskLow' };
  await t.rejects(pool.submit(tx), full);
  await t.rejects(pool.submitBytes(tx.bytes), full);
  await t.rejects(pool.submitBytes(tx.bytes, { isDoubted: true }), full);
  await t.rejects(pool.check(tx), full);
  t.match(await pool.submitAll([{ bytes: tx.bytes }], false), [full]);
  t.match(await pool.submitAll([{ bytes: tx.bytes }], true), [full]);
  low.isLow = false;
  journal.broken = true;
  await t.rejects(pool.submit(tx), OwnFailure);
  journal.broken = false;
  state.fails = true;
  await t.rejects(pool.submit(tx), /read failed/);
  state.fails = false;
  await pool.submit(tx);
  low.isLow = true;
  t.equal((await pool.submit(tx)).id.length, tx.id.length, 'what is there already stays accepted');
  t.equal(pool.size(), 1);
});
