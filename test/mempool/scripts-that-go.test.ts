// The script of an account comes and goes while its transactions are on their way: in the pool, in
// blocks that are rolled back, in blocks of others. What its key has not signed stands on the script
// alone, and falls with it.

import t from 'tap';
import type { Verifier } from '../../src/base/ports/verifier.ts';
import { type Block, decodeBlock } from '../../src/block/block.ts';
import { blockAt, confirmedHeight } from '../../src/chain/store/stored-blocks.ts';
import { pack } from '../../src/mempool/packer.ts';
import type { Pool } from '../../src/mempool/pool.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { createContract } from '../../src/tx/types/103-create-contract.ts';
import { executedContract } from '../../src/tx/types/105-executed-contract.ts';
import {
  GENESIS_TIME,
  LENGTH_MS,
  mine,
  miners,
  newChain,
  nextTurn,
  scheme,
  signed,
  type TestChain,
  users,
  verifier,
} from '../chain/chain-harness.ts';
import { createTestForkChoice } from '../chain/fork-harness.ts';
import { makeBlock } from '../chain/make-block.ts';
import {
  NOBODY,
  onlyBy,
  scriptTx,
  signedTx,
  transferTx,
} from '../system/crash/witness/unsigned.ts';
import { createTestPool, hearBlocks, memoryJournal } from './pool-harness.ts';

const [alice, bob, carol] = users;
const LIMITS = { bytesMax: 100_000, countMax: 100 };

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The next block, of what the pool has. */
async function mineFrom(at: TestChain, pool: Pool): Promise<Block> {
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  return makeBlock(at.blockchain, miner, time, (draft) => pack(pool, LIMITS, draft, at.clock));
}

const script = (at: TestChain, source: string | undefined, by: Pick<typeof alice, 'sign'>): Tx =>
  scriptTx(alice, source, at.clock.time, by, scheme);

const payBy = (at: TestChain, by: Pick<typeof alice, 'sign'>, n = 1): Tx =>
  transferTx(alice, bob.address, n, at.clock.time, by, scheme);

async function follow(to: TestChain, from: TestChain, above: number): Promise<string> {
  to.clock.time = Math.max(to.clock.time, from.clock.time);
  const forks = createTestForkChoice(to);
  const branch = [];
  for (let height = above + 1; height <= from.blockchain.tip().height; height++) {
    const { bytes } = blockAt(from.blockchain.view, height)!;
    branch.push(await forks.check(decodeBlock(bytes, scheme)));
  }
  const { kind } = await forks.adopt(branch);
  await settled();
  return kind;
}

/** In the round after the next, which makes a branch that loses. */
async function mineLate(at: TestChain, txs: readonly Tx[]): Promise<Block> {
  const { timestamp } = at.blockchain.tip().header;
  const from = timestamp - ((timestamp - GENESIS_TIME) % LENGTH_MS) + 2 * LENGTH_MS;
  const miner = miners.find((one) => at.blockchain.nextSlot(one, from)?.from === from)!;
  at.clock.time = from + 10;
  return makeBlock(at.blockchain, miner, at.clock.time, async (draft) => {
    for (const tx of txs) draft.add(tx, unchecked(tx));
  });
}

t.test('a block has other proofs than the pool, and its branch loses', async (t) => {
  const [at, other] = [await newChain(), await newChain()];
  const journal = memoryJournal();
  const pool = createTestPool(at, { journal });
  hearBlocks(at, () => pool);
  const [good, forged] = [payBy(at, alice), payBy(at, NOBODY)];
  t.same(good.id, forged.id, 'an id does not cover the proofs');
  await pool.submit(good);
  await mineLate(at, [script(at, 'true', alice)]);
  await mineLate(at, [forged]);
  t.equal(pool.get(good.id), undefined, 'it is mined');
  for (let i = 0; i < 3; i++) await mine(other);
  t.equal(await follow(at, other, 1), 'adopted');
  await pool.readmitted();
  t.same(pool.get(good.id)?.bytes, good.bytes, 'the one that was acknowledged comes back');
  const after = createTestPool(at, { journal: memoryJournal(journal.records) });
  await after.recover();
  t.same(after.get(good.id)?.bytes, good.bytes, 'after a crash too');
  await mine(at, [pool.get(good.id)!]);
  t.ok(confirmedHeight(at.blockchain.view, good.id), 'without the script');
});

t.test('between admission and packing', async (t) => {
  const at = await newChain();
  const pool = createTestPool(at);
  hearBlocks(at, () => pool);
  await mine(at, [script(at, 'true', alice)]);
  const [forged, good] = [payBy(at, NOBODY, 1), payBy(at, alice, 2)];
  await pool.submit(forged);
  await pool.submit(good);
  await mine(at, [script(at, undefined, NOBODY)]);
  await mineFrom(at, pool);
  t.match(pool.dropped(forged.id), /doesn't validate as signature/);
  t.ok(confirmedHeight(at.blockchain.view, good.id), 'its key has signed the other one');

  const plain = payBy(at, alice, 3);
  await pool.submit(plain);
  t.same(pool.verdictsOn(plain)?.about(plain).own, [true]);
  await mine(at, [script(at, 'false', alice)]);
  await mineFrom(at, pool);
  t.match(pool.dropped(plain.id), /not allowed by account-script/, 'a signature is not enough');
});

t.test('one script after another: what one key may sign, another may not', async (t) => {
  const at = await newChain();
  const pool = createTestPool(at);
  hearBlocks(at, () => pool);
  await mine(at, [script(at, onlyBy(bob), alice)]);
  const byBob = payBy(at, bob);
  await pool.submit(byBob);
  await mine(at, [script(at, onlyBy(carol), bob)]);
  await mineFrom(at, pool);
  t.match(pool.dropped(byBob.id), /not allowed by account-script/);
  const byCarol = payBy(at, carol);
  await pool.submit(byCarol);
  await mine(at, [script(at, undefined, carol)]);
  await mineFrom(at, pool);
  t.match(pool.dropped(byCarol.id), /doesn't validate as signature/, 'a revoked key');
});

for (const isSlow of [false, true]) {
  const when = isSlow ? 'before its proofs are checked again' : 'after';
  t.test(`taken back by a reorganisation, and packed ${when}`, async (t) => {
    const at = await newChain();
    const winner = await newChain();
    const common = await mine(at, [script(at, 'true', alice)]);
    winner.clock.time = at.clock.time;
    await winner.blockchain.append(common);
    const never: Verifier = { ...verifier, verify: () => new Promise(() => {}) };
    const pool = createTestPool(at, isSlow ? { verifier: never } : {});
    hearBlocks(at, () => pool);

    const [forged, good] = [payBy(at, NOBODY, 1), payBy(at, alice, 2)];
    await mineLate(at, [forged, good]);
    await mine(winner, [scriptTx(alice, undefined, winner.clock.time, NOBODY, scheme)]);
    await mine(winner);
    t.equal(await follow(at, winner, 2), 'adopted');
    t.equal(pool.size(), 2, 'both are back');
    t.equal(pool.verdictsOn(good)?.isComplete, !isSlow);
    const block = await mineFrom(at, pool);
    t.same(block.transactions, [good.bytes]);
    winner.clock.time = at.clock.time;
    await winner.blockchain.append(block);
    t.same(winner.blockchain.tip().id, at.blockchain.tip().id, 'another node accepts the block');
    for (let i = 0; i < 6; i++) {
      await mineFrom(at, pool);
      await settled();
    }
    t.match(pool.dropped(forged.id), /doesn't validate as signature/);
  });
}

t.test('a contract that nobody signed comes back from the result that contained it', async (t) => {
  const at = await newChain();
  const winner = await newChain();
  const pool = createTestPool(at);
  hearBlocks(at, () => pool);
  const [developer] = miners;
  const role = { target: { kind: 'address', bytes: alice.address }, opType: 'add' } as const;
  const permits = {
    ...role,
    role: 'contract_developer',
    fee: permit.fee,
    timestamp: at.clock.time,
  };
  const commons = [
    await mine(at, [signed(permit, developer!, permits as never, 1)]),
    await mine(at, [script(at, 'true', alice)]),
  ];
  winner.clock.time = at.clock.time;
  for (const block of commons) await winner.blockchain.append(block);

  const image = { image: 'sum', imageHash: 'ab'.repeat(32), contractName: 'sum', params: [] };
  const { publicKey: senderPublicKey } = alice;
  const about = { senderPublicKey, timestamp: at.clock.time, fee: (createContract.fee ?? 0n) * 2n };
  const creation = signedTx(createContract, 1, { ...image, ...about }, NOBODY, scheme);
  const { timestamp } = at.blockchain.tip().header;
  const from = timestamp - ((timestamp - GENESIS_TIME) % LENGTH_MS) + 2 * LENGTH_MS;
  const late = miners.find((one) => at.blockchain.nextSlot(one, from)?.from === from)!;
  at.clock.time = from + 10;
  await makeBlock(at.blockchain, late, at.clock.time, async (draft) => {
    const input = { tx: creation, results: [], fee: 0n, timestamp: at.clock.time };
    const result = signed(executedContract, late as never, input as never, 1);
    draft.add(result, unchecked(result));
  });
  await mine(winner, [scriptTx(alice, undefined, winner.clock.time, NOBODY, scheme)]);
  await mine(winner);
  t.equal(await follow(at, winner, 3), 'adopted');
  const entry = pool.entry(creation.id);
  t.ok(entry, 'it is back');
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  await makeBlock(at.blockchain, miner, time, async (draft) => {
    const tx = pool.decode(entry!);
    t.throws(() => draft.check(tx, entry!.verdicts), /doesn't validate as signature/);
    const input = { tx, results: [], fee: 0n, timestamp: time };
    const result = signed(executedContract, miner as never, input as never, 1);
    t.throws(() => draft.add(result, unchecked(result)), /doesn't validate as signature/);
  });
});
