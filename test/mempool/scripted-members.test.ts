/**
 * An atomic transaction whose members all have senders with scripts: their scripts are read in pieces,
 * no more of them than a block may run, and behind every rule that needs none.
 */

import t from 'tap';
import { SCRIPT_RUNS_MAX } from '../../src/block/block.ts';
import { verifyBlock } from '../../src/chain/apply/verify-block.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import { TimeSlice } from '../../src/concurrency/time-slice.ts';
import { scripts as scriptTable } from '../../src/ledger/tables.ts';
import { Trial } from '../../src/mempool/admission/trial.ts';
import { feature } from '../../src/tx/rules/features.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { massTransfer } from '../../src/tx/types/011-mass-transfer.ts';
import { data } from '../../src/tx/types/012-data.ts';
import { atomic } from '../../src/tx/types/120-atomic.ts';
import {
  type Account,
  account,
  mine,
  newChain,
  nextTurn,
  rules,
  scheme,
  signed,
  testClock,
  users,
  verifier,
} from '../chain/chain-harness.ts';
import { makeBlock } from '../chain/make-block.ts';
import { compiled } from '../generators/scripts.ts';
import { createTestPool, memoryJournal } from './pool-harness.ts';

const [alice, bob] = users;
const READ_MS = 5;
const FEE = 1_400_000n;
const FUNDS = 10_000_000n;
const EMPTY = new Uint8Array(0);
const WITH_ATOMIC = {
  ...rules,
  preActivatedFeatures: new Map([...rules.preActivatedFeatures, [feature.atomic, 0] as const]),
};
const senders = Array.from({ length: 2 * SCRIPT_RUNS_MAX }, (_, i) => account(`member ${i}`));
const BADGE = { atomicBadge: { trustedSender: alice.address } };

/** A chain on which each sender has funds and a script of its own that asks for its signature. */
async function chain() {
  const at = await newChain(undefined, WITH_ATOMIC);
  const { time } = nextTurn(at);
  const paid = (to: readonly Account[]) =>
    signed(
      massTransfer,
      alice,
      {
        ...{ assetId: undefined, timestamp: time, fee: 100_000_000n, attachment: EMPTY },
        transfers: to.map(({ address }) => ({
          recipient: { kind: 'address' as const, bytes: address },
          amount: FUNDS,
        })),
      } as never,
      1,
    );
  await mine(at, [paid(senders.slice(0, SCRIPT_RUNS_MAX)), paid(senders.slice(SCRIPT_RUNS_MAX))]);
  const { miner, time: next } = nextTurn(at);
  at.clock.time = next;
  await makeBlock(at.blockchain, miner, next, async ({ overlay }) => {
    for (const [i, { address }] of senders.entries()) {
      const source = `height != ${5000 + i} && sigVerify(tx.bodyBytes, tx.proofs[0], tx.senderPublicKey)`;
      overlay.set(scriptTable, address, compiled(source));
    }
  });
  return at;
}

/** The same chain on a clock that only the reading of scripts moves; turns are noted. */
async function read() {
  const { store, clock: on } = await chain();
  const clock = testClock(on.time);
  const noted = { scripts: 0, checks: 0, pieces: [] as number[] };
  let ms = 0;
  let lastTurn = 0;
  clock.monotonic = () => ms;
  clock.turn = async () => {
    noted.pieces.push(ms - lastTurn);
    lastTurn = ms;
  };
  const reading: ChainScheme = {
    ...scheme,
    secureHash: (message) => {
      noted.scripts++;
      ms += READ_MS;
      return scheme.secureHash(message);
    },
    verify: (...check) => {
      noted.checks++;
      return scheme.verify(...check);
    },
  };
  const at = await newChain(store, WITH_ATOMIC, clock, reading);
  const pool = (records?: readonly Uint8Array[]) =>
    createTestPool(at, {
      ...{ scheme: reading, journal: memoryJournal(records) },
      state: new Trial(at.blockchain, WITH_ATOMIC, clock),
    });
  return { ...at, noted, pool };
}

const pays = (from: Account, timestamp: number, amount = 1n): Tx =>
  signed(
    transfer,
    from,
    {
      ...{ recipient: { kind: 'address', bytes: bob.address }, assetId: undefined, amount },
      ...{ attachment: EMPTY, fee: FEE, timestamp, ...BADGE },
    } as never,
    3,
  );

const group = (transactions: readonly Tx[], timestamp: number): Tx =>
  signed(atomic, alice, { transactions, timestamp } as never, 1);

const longest = (pieces: readonly number[]): number => Math.max(...pieces);

t.test('a block: no more than it may run, in pieces', async (t) => {
  const { blockchain, clock, noted } = await read();
  const block = await mine({ ...(await chain()) });
  const members = senders.map((from) => pays(from, clock.time));
  const [one, other] = [members.slice(0, 60), members.slice(60, 120)];
  const txs = [group(one, clock.time), group(other, clock.time)];
  const slice = new TimeSlice(clock);
  const verdicts = await verifyBlock(
    block,
    txs,
    verifier,
    () => undefined,
    blockchain.view,
    slice,
    true,
  );
  t.equal(noted.scripts, SCRIPT_RUNS_MAX);
  t.ok(noted.pieces.length >= SCRIPT_RUNS_MAX, `${noted.pieces.length} turns`);
  t.ok(longest(noted.pieces) <= READ_MS, `${longest(noted.pieces)} ms`);
  const planned = (i: number) => verdicts[i]!.about(txs[i]!).planned?.map(({ length }) => length);
  t.same(planned(0), [0, ...Array<number>(60).fill(1)]);
  t.same(planned(1), [0, ...Array<number>(40).fill(1), ...Array<number>(20).fill(0)]);
});

t.test('none is read for what another rule refuses, at each door', async (t) => {
  const { clock, noted, pool } = await read();
  const members = senders.slice(0, 60).map((from) => pays(from, clock.time));
  const last = pays(senders[60]!, clock.time, FUNDS);
  const tx = group([...members, last], clock.time);
  const refusal = { message: /unavailable funds|negative/ };
  await t.rejects(pool().submit(tx), refusal);
  await t.rejects(pool().submitBytes(tx.bytes), refusal);
  await t.rejects(pool().submitBytes(tx.bytes, { isDoubted: true }), refusal);
  for (const isDoubted of [false, true]) {
    t.match(await pool().submitAll([{ bytes: tx.bytes }], isDoubted), [refusal]);
  }
  t.equal(noted.scripts, 0);
});

t.test('in pieces, at each door', async (t) => {
  const doors = {
    submit: (pool, tx) => pool.submit(tx),
    submitBytes: (pool, tx) => pool.submitBytes(tx.bytes),
    submitAll: (pool, tx) => pool.submitAll([{ bytes: tx.bytes }], false),
    doubted: (pool, tx) => pool.submitBytes(tx.bytes, { isDoubted: true }),
    check: (pool, tx) => pool.check(tx),
    recover: (pool) => pool.recover(),
    readmit: async (pool, tx) => {
      await pool.keep([tx]);
      await pool.readmit([tx]);
    },
  } satisfies Record<string, (pool: ReturnType<typeof createTestPool>, tx: Tx) => Promise<unknown>>;
  for (const [name, door] of Object.entries(doors)) {
    const { clock, noted, pool } = await read();
    const members = senders.slice(0, 60).map((from) => pays(from, clock.time));
    const tx = group(members, clock.time);
    const into = pool(name === 'recover' ? [tx.bytes] : []);
    await door(into, tx);
    t.equal(into.size(), name === 'check' ? 0 : 1, name);
    t.ok(noted.pieces.length >= 60, `${name}: ${noted.pieces.length} turns`);
    t.ok(longest(noted.pieces) <= READ_MS, `${name}: ${longest(noted.pieces)} ms`);
  }
});

t.test('threads check whether the author of the data of a member has signed', async (t) => {
  const { clock, noted, pool } = await read();
  const fields = {
    ...{ authorPublicKey: bob.publicKey, timestamp: clock.time, fee: 2n * FUNDS, ...BADGE },
    data: [{ key: 'k', type: 'string', value: 'v' }],
  };
  const by = (signer: Account): Tx[] =>
    senders
      .slice(0, 10)
      .map(({ publicKey }) => signed(data, { publicKey, sign: signer.sign }, fields as never, 3));
  // The scripts want the sender's signature in the same place.
  for (const [signer, message] of [
    [alice, /The first proof is not a signature of the author/],
    [bob, /Transaction is not allowed by account-script/],
  ] as const) {
    await t.rejects(pool().submit(group(by(signer), clock.time)), { message });
    t.equal(noted.checks, 0);
  }
});
