// Each proof is checked once, on its way into the pool or in the block that brings it; and once more
// where it comes back from a block or from the disk.

import t from 'tap';
import type { Verifier } from '../../src/base/ports/verifier.ts';
import { pack } from '../../src/mempool/packer.ts';
import type { Pool } from '../../src/mempool/pool.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import { buildTx } from '../../src/tx/tx-bytes.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { createContract } from '../../src/tx/types/103-create-contract.ts';
import { executedContract } from '../../src/tx/types/105-executed-contract.ts';
import {
  mine,
  miners,
  mineUnjudged,
  newChain,
  nextTurn,
  payment,
  scheme,
  signed,
  users,
  verifier,
} from '../chain/chain-harness.ts';
import { createTestForkChoice } from '../chain/fork-harness.ts';
import { makeBlock } from '../chain/make-block.ts';
import { allBad, verdictsBy } from '../tx/verdicts-by.ts';
import { createTestPool, hearBlocks, memoryJournal } from './pool-harness.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const [alice, bob] = users;

/** A chain with pool and fork choice, whose verifier counts. */
async function node() {
  const at = await newChain();
  const checks = { count: 0 };
  const counting: Verifier = {
    ...verifier,
    verifyOne(...check) {
      checks.count++;
      return verifier.verifyOne(...check);
    },
    verify(items) {
      checks.count += items.length;
      return verifier.verify(items);
    },
  };
  const newPool = (recovered: readonly Uint8Array[] = []): Pool =>
    createTestPool(at, { verifier: counting, journal: memoryJournal(recovered) });
  const pool = newPool();
  hearBlocks(at, () => pool);
  const forks = createTestForkChoice(at, { verifier: counting, knownVerdicts: pool.verdictsOn });
  return { ...at, checks, pool, newPool, forks };
}

t.test('in the pool, in a block of another node, after a reorganisation, in a block', async (t) => {
  const at = await node();
  const maker = await newChain();
  const tx = payment(alice, bob, 1n, at.clock.time);
  await at.pool.submit(tx);
  t.equal(at.checks.count, 1, 'its own');
  const block = await mine(maker, [tx]);
  at.clock.time = maker.clock.time;
  t.match(await at.forks.offer(block), { kind: 'adopted' });
  t.equal(at.checks.count, 2, 'that of the block');
  t.equal(at.pool.size(), 0);

  await at.blockchain.rollback(1);
  await at.pool.readmitted();
  t.equal(at.pool.size(), 1, 'it is back');
  await settled();
  t.equal(at.checks.count, 3, 'what a block said of it counts no more');
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  await makeBlock(at.blockchain, miner, time, (draft, limits) =>
    pack(at.pool, limits, draft, at.clock),
  );
  t.equal(at.pool.size(), 0, 'it is in a block again');

  await at.blockchain.rollback(1);
  const recovered = at.newPool([tx.bytes]);
  await recovered.recover();
  t.equal(recovered.size(), 1, 'the journal had it');
  t.equal(at.checks.count, 5, 'one check after the second rollback, and one of the record');
});

t.test('a caller that has checked the proofs of its bytes brings the verdicts', async (t) => {
  const at = await node();
  const [one, other] = [1n, 2n].map((amount) => payment(alice, bob, amount, at.clock.time));
  await at.pool.submitBytes(one!.bytes, { verdicts: verdictsBy(one!, () => true) });
  t.same(at.pool.entry(one!.id)?.verdicts.about(one!), { own: [true], carried: [] });
  const refused = at.pool.submitBytes(other!.bytes, { verdicts: allBad(other!) });
  await t.rejects(refused, { message: /doesn't validate as signature/ });
  t.equal(at.checks.count, 0);
});

for (const fails of [false, true]) {
  t.test(
    `other proofs for what is on its way to a disk that ${fails ? 'fails' : 'works'}`,
    async (t) => {
      const at = await newChain();
      const disk = Promise.withResolvers<void>();
      const pool = createTestPool(at, {
        journal: { ...memoryJournal(), append: () => disk.promise },
      });
      const tx = payment(alice, bob, 1n, at.clock.time);
      const other = buildTx(tx.def, tx.layout, tx.fields, [new Uint8Array(64).fill(1)], scheme);
      let answers = 0;
      const outcomes = Promise.allSettled(
        [tx, other].map((one) => pool.submit(one).finally(() => answers++)),
      );
      for (let i = 0; i < 5; i++) await settled();
      t.equal(pool.size(), 1);
      t.equal(answers, 0, 'neither is acknowledged before the disk has it');
      if (fails) disk.reject(new Error('no space left on device'));
      else disk.resolve();
      const refused = { status: 'rejected', reason: { message: /cannot be written/ } };
      const first = { status: 'fulfilled', value: { bytes: tx.bytes } };
      t.match(await outcomes, fails ? [refused, refused] : [first, first]);
      t.equal(pool.size(), fails ? 0 : 1);
    },
  );
}

t.test(
  'what is sent again is checked once, although its rival was refused meanwhile',
  async (t) => {
    const at = await newChain();
    const [bad, good] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let checks = 0;
    const verifyOne: Verifier['verifyOne'] = async (...check) => {
      checks++;
      await (checks === 1 ? bad : good).promise;
      return verifier.verifyOne(...check);
    };
    const pool = createTestPool(at, { verifier: { ...verifier, verifyOne } });
    const tx = payment(alice, bob, 1n, at.clock.time);
    const wrong = buildTx(tx.def, tx.layout, tx.fields, [new Uint8Array(64).fill(1)], scheme);
    const refused = pool.submit(wrong);
    const first = pool.submit(tx);
    bad.resolve();
    await t.rejects(refused, { message: /doesn't validate as signature/ });
    const again = pool.submit(tx);
    good.resolve();
    t.match(await Promise.all([first, again]), [{ bytes: tx.bytes }, { bytes: tx.bytes }]);
    t.equal(checks, 2);
    t.equal(pool.size(), 1);
  },
);

t.test('a block with other proofs for a known id does not profit', async (t) => {
  const at = await node();
  const maker = await newChain();
  const tx = payment(alice, bob, 1n, at.clock.time);
  await at.pool.submit(tx);
  const forged = buildTx(tx.def, tx.layout, tx.fields, [new Uint8Array(64).fill(1)], scheme);
  t.same(forged.id, tx.id);
  const block = await mineUnjudged(maker, [forged]);
  at.clock.time = maker.clock.time;
  const verdict = await at.forks.offer(block);
  t.match(verdict, { kind: 'invalid', isForged: false });
  t.match(verdict, { error: { message: /doesn't validate as signature/ } });
  t.equal(at.blockchain.tip().height, 1);
  t.match(await at.forks.offer(block), { error: { message: /known to be invalid/ } });
  t.equal(at.pool.size(), 1, 'the good one still waits');
});

t.test('a result in a block: what it executes was checked in the pool', async (t) => {
  const at = await node();
  const maker = await newChain();
  const [developer] = miners;
  const role = { target: { kind: 'address', bytes: alice.address }, opType: 'add' } as const;
  const permits = { ...role, role: 'contract_developer', fee: permit.fee };
  const permitted = signed(
    permit,
    developer!,
    { ...permits, timestamp: at.clock.time } as never,
    1,
  );
  const first = await mine(maker, [permitted]);
  at.clock.time = maker.clock.time;
  t.match(await at.forks.offer(first), { kind: 'adopted' });

  const image = { image: 'sum', imageHash: 'ab'.repeat(32), contractName: 'sum', params: [] };
  const about = { fee: createContract.fee, timestamp: at.clock.time };
  const creation = signed(createContract, alice, { ...image, ...about } as never, 1);
  await at.pool.submit(creation);
  at.checks.count = 0;
  const { miner, time } = nextTurn(maker);
  maker.clock.time = time;
  const block = await makeBlock(maker.blockchain, miner, time, async (draft) => {
    const input = { tx: creation, results: [], fee: 0n, timestamp: time };
    const result = signed(executedContract, miner as never, input as never, 1);
    draft.add(result, unchecked(result));
  });
  at.clock.time = time;
  t.match(await at.forks.offer(block), { kind: 'adopted' });
  t.equal(at.checks.count, 2, 'the block and the result, not the creation in it');
});

t.test('none where the pool has no room', async (t) => {
  const { newPool, checks, clock } = await node();
  const pool = newPool();
  for (let i = 0; i < 100; i++) await pool.submit(payment(alice, bob, 1n, clock.time));
  const { count } = checks;
  const next = payment(alice, bob, 1n, clock.time);
  const refusal = { code: 199 };
  await t.rejects(pool.submit(next), refusal);
  await t.rejects(pool.submitBytes(next.bytes), refusal);
  t.match(await pool.submitAll([{ bytes: next.bytes }], false), [refusal]);
  t.equal(checks.count, count);
});

t.test('those that come together share the room that is left', async (t) => {
  const { newPool, clock } = await node();
  const pool = newPool();
  const all = Array.from({ length: 101 }, () => payment(alice, bob, 1n, clock.time));
  const outcomes = await Promise.allSettled(all.map((tx) => pool.submit(tx)));
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  t.match(refused, [{ reason: { code: 199 } }]);
  t.equal(pool.size(), 100);
});

t.test('bytes that mean another transaction than they came with', async (t) => {
  const { newPool, clock } = await node();
  const [one, other] = [payment(alice, bob, 1n, clock.time), payment(alice, bob, 2n, clock.time)];
  await t.rejects(newPool().submit({ ...one, bytes: other.bytes }), /mean another one/);
});
