// Reading a type 13 or 15 reads its script, which takes milliseconds. However many come together, the
// event loop has a turn after each piece of this work.

import t from 'tap';
import { SCRIPT_RUNS_MAX } from '../../src/block/block.ts';
import {
  decodeTransactions,
  type KnownVerdicts,
  verifyBlock,
} from '../../src/chain/apply/verify-block.ts';
import { importBlocks } from '../../src/chain/import/import-blocks.ts';
import { blockAt } from '../../src/chain/store/stored-blocks.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import { TimeSlice } from '../../src/concurrency/time-slice.ts';
import { scripts as scriptTable } from '../../src/ledger/tables.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { setScript } from '../../src/tx/types/013-set-script.ts';
import {
  account,
  mine,
  newChain,
  nextTurn,
  payment,
  scheme,
  signed,
  type TestClock,
  testClock,
  users,
  verifier,
} from '../chain/chain-harness.ts';
import { makeBlock } from '../chain/make-block.ts';
import { compiled } from '../generators/scripts.ts';
import { createTestPool, memoryJournal } from './pool-harness.ts';

const [alice, bob, carol] = users;
const READ_MS = 5;

/** Time passes only where a script is read, and turns are noted with the time since the last one. */
function timed(time: number) {
  const clock = testClock(time);
  const pieces: number[] = [];
  let ms = 0;
  let lastTurn = 0;
  clock.monotonic = () => ms;
  clock.turn = async () => {
    pieces.push(ms - lastTurn);
    lastTurn = ms;
  };
  const reading: ChainScheme = {
    ...scheme,
    secureHash: (message) => {
      ms += READ_MS;
      return scheme.secureHash(message);
    },
  };
  return { clock, pieces, reading };
}

const scripts = (count: number, timestamp: number): Tx[] =>
  Array.from({ length: count }, (_, i) =>
    signed(
      setScript,
      alice,
      {
        ...{ name: 'guard', description: '', chainId: scheme.chainId, timestamp: timestamp + i },
        ...{ script: compiled(`height != ${1000 + i}`), fee: 50_400_000n },
      } as never,
      1,
    ),
  );

t.test('500 of one message', async (t) => {
  const at = await newChain();
  for (const isDoubted of [false, true]) {
    const { clock, pieces, reading } = timed(at.clock.time);
    const pool = createTestPool(
      { blockchain: at.blockchain, clock },
      { scheme: reading },
      { bytesMax: 100_000_000, senderEntriesMax: 1000 },
    );
    const list = scripts(500, at.clock.time).map(({ bytes }) => ({ bytes }));
    const errors = await pool.submitAll(list, isDoubted);
    t.same(new Set(errors), new Set([undefined]));
    t.ok(pieces.length >= 500, `${pieces.length} turns`);
    t.ok(Math.max(...pieces) <= READ_MS, `${Math.max(...pieces)} ms`);
  }
});

t.test('a block', async (t) => {
  const at = await newChain();
  const block = await mine(at, scripts(50, nextTurn(at).time));
  const { clock, pieces, reading } = timed(at.clock.time);
  const to = await newChain(undefined, undefined, clock, reading);
  await to.blockchain.append(block);
  t.equal(to.blockchain.tip().height, 2);
  t.ok(pieces.length >= 50, `${pieces.length} turns`);
  t.ok(Math.max(...pieces) <= READ_MS, `${Math.max(...pieces)} ms`);
});

/** Turns are counted, and each question for the time takes a millisecond. */
function counting(clock: TestClock) {
  const turns = { count: 0 };
  let ms = 0;
  clock.monotonic = () => ++ms;
  clock.turn = async () => {
    turns.count++;
  };
  return turns;
}

t.test('the checks of a block, for which scripts of the state are read', async (t) => {
  const at = await newChain();
  const { time } = nextTurn(at);
  const block = await mine(
    at,
    Array.from({ length: 50 }, (_, i) => payment(bob, carol, 1n + BigInt(i), time)),
  );
  const turns = counting(at.clock);
  const txs = await decodeTransactions(block, scheme, new TimeSlice(at.clock));
  const before = turns.count;
  const { view } = at.blockchain;
  await verifyBlock(block, txs, verifier, () => undefined, view, new TimeSlice(at.clock));
  t.ok(turns.count - before >= 20, `${turns.count - before} turns`);
});

t.test('they are no more than a block may run, whoever signed it', async (t) => {
  const at = await newChain();
  const senders = Array.from({ length: 150 }, (_, i) => account(`sender ${i}`));
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  await makeBlock(at.blockchain, miner, time, async (draft) => {
    for (const [i, { address }] of senders.entries()) {
      draft.overlay.set(scriptTable, address, compiled(`height != ${5000 + i}`));
    }
  });
  const txs = senders.map((from) => payment(from, bob, 1n, time));
  const block = await mine(at);
  let decoded = 0;
  const counting: ChainScheme = {
    ...scheme,
    secureHash: (message) => {
      decoded++;
      return scheme.secureHash(message);
    },
  };
  const { view } = await newChain(at.store, undefined, at.clock, counting).then(
    ({ blockchain }) => blockchain,
  );
  const turns = new TimeSlice(at.clock);
  const verify = (known: KnownVerdicts) => verifyBlock(block, txs, verifier, known, view, turns);
  const first = await verify(() => undefined);
  t.equal(decoded, SCRIPT_RUNS_MAX);
  t.same(first[0]!.isComplete, false, 'planned');
  t.ok(first.at(-1)!.isComplete, 'checked as a signature');
  decoded = 0;
  const again = await verify((tx) => first[txs.indexOf(tx)]);
  t.equal(decoded, 0, 'nor for what is known');
  t.same(again, first);
});

t.test('blocks of an import', async (t) => {
  const from = await newChain();
  await mine(from, scripts(50, nextTurn(from).time));
  const block = blockAt(from.blockchain.view, 2)!;
  const clock = testClock(from.clock.time);
  const turns = counting(clock);
  const to = await newChain(undefined, undefined, clock);
  turns.count = 0;
  let afterReading = 0;
  function* blocks() {
    yield block;
    afterReading = turns.count;
  }
  await importBlocks(to.blockchain, verifier, blocks(), { from: 2 });
  t.equal(to.blockchain.tip().height, 2);
  t.ok(afterReading >= 20, `${afterReading} turns`);
});

t.test('blocks that are taken back', async (t) => {
  const at = await newChain();
  await mine(at, scripts(50, nextTurn(at).time));
  const turns = counting(at.clock);
  const taken = await at.blockchain.rollback(1);
  t.equal(taken.length, 50);
  t.ok(turns.count >= 20, `${turns.count} turns`);
});

t.test('records of the journal', async (t) => {
  const at = await newChain();
  const { clock, pieces, reading } = timed(at.clock.time);
  // More than stay decoded; their scripts are read once.
  const records = scripts(300, at.clock.time).map(({ bytes }) => bytes);
  const pool = createTestPool(
    { blockchain: at.blockchain, clock },
    { scheme: reading, journal: memoryJournal(records) },
    { bytesMax: 100_000_000, senderEntriesMax: 1000 },
  );
  await pool.recover();
  t.equal(pool.size(), 300);
  t.ok(pieces.length >= 300, `${pieces.length} turns`);
  t.ok(Math.max(...pieces) <= READ_MS, `${Math.max(...pieces)} ms`);
});

t.test('transactions that come back', async (t) => {
  const at = await newChain();
  await mine(at, scripts(90, nextTurn(at).time));
  const pool = createTestPool(at);
  const taken = await at.blockchain.rollback(1);
  const turns = counting(at.clock);
  await pool.readmit(taken);
  t.equal(pool.size(), 90);
  t.ok(turns.count >= 60, `${turns.count} turns`);
});
