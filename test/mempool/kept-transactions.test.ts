// What a rollback takes out of the chain is on disk before, or it stays in the chain.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { openJournal, PENDING_BYTES_MAX } from '../../src/adapters/journal.ts';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import { JournalFullError } from '../../src/base/faults/journal-full.ts';
import { encodeHex } from '../../src/base/hex.ts';
import { decodeBlock } from '../../src/block/block.ts';
import { blockAt, findTransaction } from '../../src/chain/store/stored-blocks.ts';
import { tables } from '../../src/ledger/tables.ts';
import { idOf } from '../../src/mempool/entries/entry.ts';
import {
  appendInPortions,
  NotKeptError,
  PORTION_BYTES,
} from '../../src/mempool/journal/journal-portions.ts';
import { isOrderRecord, orderIn } from '../../src/mempool/journal/return-order.ts';
import type { Pool } from '../../src/mempool/pool.ts';
import { decodeTx } from '../../src/tx/tx-bytes.ts';
import {
  mine,
  newChain,
  payment,
  quiet,
  scheme,
  type TestChain,
  testClock,
  users,
} from '../chain/chain-harness.ts';
import { createTestForkChoice } from '../chain/fork-harness.ts';
import { childEnvironment } from '../child-environment.ts';
import { fakeClock } from '../node/fake-clock.ts';
import { bulky } from './bulky-transactions.ts';
import { createTestPool, hearBlocks, memoryJournal } from './pool-harness.ts';

const [alice, bob] = users;
const root = mkdtempSync(join(tmpdir(), 'kept-'));
t.teardown(() => rmSync(root, { recursive: true }));

const ids = (records: readonly Uint8Array[]): string[] =>
  transactionsIn(records).map((record) => encodeHex(decodeTx(record, scheme).id));

const transactionsIn = (records: readonly Uint8Array[]): readonly Uint8Array[] =>
  records.filter((record) => !isOrderRecord(record));

/** The blocks of a chain above genesis, as they come over the wire. */
const branchOf = ({ blockchain }: TestChain) =>
  Array.from({ length: blockchain.tip().height - 1 }, (_, i) =>
    decodeBlock(blockAt(blockchain.view, i + 2)!.bytes.slice(), scheme),
  );

t.test('a reorganisation of more than waits for the disk at a time is kept', async (t) => {
  const path = join(root, 'large');
  const journal = openJournal({ path });
  t.teardown(() => journal.close());
  const at = await newChain();
  const pool = createTestPool(at, { journal }, { bytesMax: 1_000_000_000 });
  hearBlocks(at, () => pool);
  const lost: string[] = [];
  let bytes = 0;
  while (bytes < PENDING_BYTES_MAX + PORTION_BYTES) {
    const txs = Array.from({ length: 7 }, () => bulky(alice, at.clock.time));
    await mine(at, txs);
    for (const tx of txs) {
      lost.push(encodeHex(tx.id));
      bytes += tx.bytes.length;
    }
  }
  const removed = await at.blockchain.rollback(1);
  t.equal(removed.length, lost.length);
  await journal.close();
  const { recovered, ...again } = openJournal({ path });
  t.same(ids(recovered), lost, 'in the order of the chain');
  await again.close();
});

t.test('records of others make it wait, and a journal that fails ends it', async (t) => {
  const clock = fakeClock(0);
  const taken: number[] = [];
  let full = 3;
  const journal = {
    async append([number = 0]: Uint8Array) {
      if (number === 2 && full-- > 0) throw new JournalFullError('others wait');
      if (number === 4) throw new Error('no space left on device');
      taken.push(number);
    },
  };
  const record = (number: number): Uint8Array => new Uint8Array(PORTION_BYTES / 4).fill(number);
  const landed: number[] = [];
  const kept = appendInPortions([1, 2, 3].map(record), {
    journal,
    clock,
    landed: (count) => landed.push(count),
  });
  await clock.advance(1_000);
  await kept;
  t.same(taken, [1, 3, 2]);
  t.same(landed, [3]);
  const lost = appendInPortions([5, 6, 7, 8, 4].map(record), {
    journal,
    clock,
    landed: (count) => landed.push(count),
  });
  await t.rejects(lost, NotKeptError);
  t.same(landed, [3, 4], 'the first portion has landed');
  full = Number.POSITIVE_INFINITY;
  const never = appendInPortions([record(2)], { journal, clock });
  const ended = t.rejects(never, NotKeptError);
  await clock.advance(60_000);
  await ended;
});

t.test('a journal at its greatest length makes room for a reorganisation', async (t) => {
  const path = join(root, 'long');
  const journal = openJournal({ path, fileBytesMax: 100_000 });
  const at = await newChain();
  const pool = createTestPool(at, { journal });
  hearBlocks(at, () => pool);
  const waiting = payment(bob, alice, 7n, at.clock.time);
  await pool.submit(waiting);
  const txs = Array.from({ length: 3 }, (_, i) =>
    payment(alice, bob, BigInt(i + 1), at.clock.time),
  );
  await mine(at, txs);
  const dead = payment(bob, alice, 8n, at.clock.time);
  for (;;) {
    const full = await journal.append(dead.bytes).then(
      () => false,
      () => true,
    );
    if (full) break;
  }
  await at.blockchain.rollback(1);
  t.equal(at.blockchain.tip().height, 1);
  await pool.stop();
  const { recovered, ...again } = openJournal({ path });
  const wanted = [waiting, ...txs].map(({ id }) => encodeHex(id));
  t.same([...new Set(ids(recovered))], wanted);
  await again.close();
});

t.test('records of clients leave room for those of a reorganisation', async (t) => {
  const journal = openJournal({ path: join(root, 'pending') });
  t.teardown(() => journal.close());
  const record = new Uint8Array(PORTION_BYTES / 2);
  const clients = Promise.allSettled(Array.from({ length: 40 }, () => journal.append(record)));
  let pauses = 0;
  const after = () => {
    pauses++;
    return () => {};
  };
  const landed: number[] = [];
  await appendInPortions([record, record], {
    journal,
    clock: { after },
    landed: (n) => landed.push(n),
  });
  t.strictSame([pauses, landed], [0, [2]]);
  const outcomes = await clients;
  t.ok(
    outcomes.some(({ status }) => status === 'rejected'),
    'although clients found none',
  );
});

/** A chain whose pool has a journal that can fail. */
async function failing(t: Test) {
  const at = await newChain();
  const journal = memoryJournal();
  const events: string[] = [];
  const log = { ...quiet, error: (event: string) => void events.push(event) };
  const pool = createTestPool(at, { journal, log });
  t.teardown(() => pool.stop());
  hearBlocks(at, () => pool);
  return { at, journal, pool, events };
}

t.test('what cannot be kept is not rolled back', async (t) => {
  const { at, journal, pool, events } = await failing(t);
  const tx = payment(alice, bob, 1n, at.clock.time);
  await mine(at, [tx]);
  const { id } = at.blockchain.tip();
  journal.broken = true;
  await t.rejects(at.blockchain.rollback(1), NotKeptError);
  t.same(at.blockchain.tip().id, id, 'the block stays');
  t.same(events, ['pool.journal-failed']);
  t.equal(pool.size(), 0);
  const later = payment(alice, bob, 2n, at.clock.time);
  await mine(at, [later]);
  journal.broken = false;
  await at.blockchain.rollback(1);
  t.same(ids(journal.records), [encodeHex(tx.id), encodeHex(later.id)], 'both are on disk');
  await pool.readmitted();
  t.equal(at.blockchain.tip().height, 1);
  t.equal(pool.size(), 2, 'later it is');
});

t.test('a better branch waits until what it drops can be kept', async (t) => {
  const { at, journal, pool } = await failing(t);
  const better = await newChain();
  const forkChoice = createTestForkChoice(at);
  await mine(at, [payment(alice, bob, 1n, at.clock.time)]);
  const { id } = at.blockchain.tip();
  for (let i = 0; i < 2; i++) await mine(better, [payment(bob, alice, 5n, better.clock.time)]);
  at.clock.time = better.clock.time;
  const adopt = async () =>
    forkChoice.adopt(await Promise.all(branchOf(better).map((block) => forkChoice.check(block))));
  journal.broken = true;
  await t.rejects(adopt(), NotKeptError);
  t.same(at.blockchain.tip().id, id);
  for (const block of branchOf(better)) {
    t.notOk(forkChoice.invalid.has(block.header.signature), 'the fault is not that of the branch');
  }
  journal.broken = false;
  t.equal((await adopt()).kind, 'adopted');
  t.same(at.blockchain.tip().id, better.blockchain.tip().id);
  await pool.readmitted();
  t.equal(pool.size(), 1);
});

t.test('a journal that is written anew before the rollback holds what is kept', async (t) => {
  const at = await newChain();
  const [old, kept] = [1n, 2n].map((amount) => payment(alice, bob, amount, at.clock.time));
  await mine(at, [old!, kept!]);
  const journal = memoryJournal([old!.bytes]);
  const pool = createTestPool(at, { journal });
  await pool.keep([kept!]);
  await pool.recover();
  t.same(ids(journal.records), [encodeHex(kept!.id)], 'without the record that a block has');
});

t.test('attempts that fail behind the journal do not fill it', async (t) => {
  const { at, journal } = await failing(t);
  await mine(at, [payment(alice, bob, 1n, at.clock.time)]);
  await mine(at, [payment(alice, bob, 2n, at.clock.time)]);
  const unlisten = at.blockchain.listen({
    rollingBack: async () => {
      // Later than the pool, as a store that refuses the commit.
      await sleep(1);
      throw new Error('the disk is full');
    },
  });
  for (let i = 0; i < 5; i++) await t.rejects(at.blockchain.rollback(1), /full/);
  t.equal(transactionsIn(journal.records).length, 2, 'each stands there once');
  t.equal(journal.records.length, 3, 'and so does their order');
  unlisten();
  await mine(at, [payment(alice, bob, 3n, at.clock.time)]);
  await at.blockchain.rollback(1);
  t.equal(transactionsIn(journal.records).length, 3, 'and those that came later');
  t.same(new Set(orderIn(journal.records)).size, 3);
});

const CHILD = new URL('rollback-child.ts', import.meta.url).pathname;

interface Child {
  readonly process: ChildProcess;
  readonly text: () => string;
  readonly exit: Promise<unknown>;
}

function start(folder: string, place: string): Child {
  const process_ = spawn(process.execPath, [...process.execArgv, CHILD, folder, place], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: childEnvironment(),
  });
  let text = '';
  process_.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const exit = new Promise((resolve) => process_.once('close', resolve));
  return { process: process_, text: () => text, exit };
}

/** Every acknowledged transaction is in the chain, or comes back in its order and is mined. */
async function requireAll(t: Test, folder: string, acknowledged: readonly string[]): Promise<void> {
  const store = await openLmdbStore({ folder: join(folder, 'chain'), tables });
  const journal = openJournal({ path: join(folder, 'journal') });
  const at = await newChain(store, undefined, testClock(0));
  at.clock.time = at.blockchain.tip().header.timestamp + 60_000;
  const pool: Pool = createTestPool(at, { journal }, { bytesMax: 100_000_000 });
  hearBlocks(at, () => pool);
  await pool.recover();
  const isMined = (id: string): boolean =>
    findTransaction(at.blockchain.view, Buffer.from(id, 'hex')) !== undefined;
  t.same(
    Array.from(pool.inDoubt(), (entry) => encodeHex(idOf(entry))),
    acknowledged.filter((id) => !isMined(id)),
    'in the order of the chain',
  );
  for (let i = 0; i < 20 && pool.size() > 0; i++) await mine(at, [...pool.list()].slice(0, 7));
  t.same(
    acknowledged.filter((id) => !isMined(id)),
    [],
    `none of ${acknowledged.length} is lost`,
  );
  await pool.stop();
  await store.close();
}

for (const place of ['first portion', 'before the commit', 'after the commit']) {
  t.test(`a kill -9 of a rollback, ${place}, loses nothing, nor the order`, async (t) => {
    const folder = join(root, place.replaceAll(' ', '-'));
    mkdirSync(folder);
    const child = start(folder, place);
    await child.exit;
    t.equal(child.process.signalCode, 'SIGKILL');
    const [ids = '', rest = ''] = child.text().split('mined\n');
    t.equal(rest, '', 'it died in the middle of the rollback');
    const acknowledged = ids.trim().split('\n');
    t.equal(acknowledged.length, 24);
    await requireAll(t, folder, acknowledged);
  });
}

t.test('nor at any other moment', async (t) => {
  for (const ms of [1, 12, 25, 60]) {
    const folder = join(root, `random-${ms}`);
    mkdirSync(folder);
    const child = start(folder, 'at random');
    while (!child.text().includes('mined\n') && child.process.exitCode === null) await sleep(1);
    await sleep(ms);
    child.process.kill('SIGKILL');
    await child.exit;
    const [ids = ''] = child.text().split('mined\n');
    await requireAll(t, folder, ids.trim().split('\n'));
  }
});
