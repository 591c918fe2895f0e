/** Scripts in blocks: how many run, who may make a block, and which checks are made in advance. */

import t from 'tap';
import { ApiError } from '../../src/base/errors.ts';
import type { BlockDraft } from '../../src/chain/apply/block-draft.ts';
import { createScriptTime } from '../../src/chain/apply/script-time.ts';
import { base58 } from '../../src/codec/text.ts';
import { endlessSlice } from '../../src/concurrency/time-slice.ts';
import { scripts } from '../../src/ledger/tables.ts';
import { add } from '../../src/mempool/packer.ts';
import { checkProofs, ProofChecks, unchecked } from '../../src/tx/proof-verdicts.ts';
import { CheckPlanner } from '../../src/tx/scripts/plan-checks.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { buildTx, signedBytes } from '../../src/tx/tx-bytes.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { data } from '../../src/tx/types/012-data.ts';
import { setScript } from '../../src/tx/types/013-set-script.ts';
import { compiled } from '../generators/scripts.ts';
import {
  type Account,
  LENGTH_MS,
  mine,
  miners,
  newChain,
  nextTurn,
  payment,
  remade,
  scheme,
  signed,
  type TestChain,
  users,
  verifier,
} from './chain-harness.ts';
import { makeBlock } from './make-block.ts';

const [alice, bob, carol] = users;
const FEE = 1_400_000n;

/** A chain on which alice's account has this script. */
async function guarded(source: string): Promise<TestChain> {
  const at = await newChain();
  const { time } = nextTurn(at);
  const about = { name: 'guard', description: '', chainId: scheme.chainId };
  const script = compiled(source);
  const input = { ...about, script, fee: setScript.fee ?? 0n, timestamp: time };
  await mine(at, [signed(setScript, alice, input as never, 1)]);
  return at;
}

function pay(time: number, amount: bigint, by: readonly Account[] = []): Tx {
  const input = {
    senderPublicKey: alice.publicKey,
    timestamp: time,
    amount,
    fee: FEE,
    recipient: { kind: 'address', bytes: bob.address } as const,
    attachment: new Uint8Array(0),
  };
  const layout = transfer.layouts[1]!;
  const bare = buildTx(transfer, layout, input, [], scheme);
  const proofs = by.map((one) => one.sign(signedBytes(bare)));
  return buildTx(transfer, layout, input, proofs, scheme) as unknown as Tx;
}

t.test('scenario 25: a block with 101 runs of scripts', async (t) => {
  const at = await guarded('true');
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  const txs = Array.from({ length: 101 }, (_, i) => pay(time, BigInt(i + 1)));
  const last = txs.at(-1)!;
  const block = await makeBlock(at.blockchain, miner, time, async (draft) => {
    for (const tx of txs.slice(0, 100)) draft.add(tx, unchecked(tx));
    t.throws(() => draft.add(last, unchecked(last)), {
      message: 'Limit of txs was reached: more than 100 runs of scripts',
    });
    t.equal(added(draft, last), undefined, 'it stays in the pool');
    const plain = payment(bob, carol, 1n, time);
    draft.add(plain, unchecked(plain));
  });
  t.equal(block.transactions.length, 101);
  await at.blockchain.rollback(2);
  const full = remade(block, miner, { transactions: [...block.transactions, last.bytes] });
  await t.rejects(at.blockchain.append(full), {
    message: 'Limit of txs was reached: more than 100 runs of scripts',
  });
  await at.blockchain.append(block);
});

t.test(
  'a miner gives the scripts of a block a second, and other nodes take longer ones',
  async (t) => {
    const at = await guarded('true');
    const { miner, time } = nextTurn(at);
    at.clock.time = time;
    let ms = 0;
    // Each run takes 400 ms.
    at.clock.monotonic = () => {
      ms += 400;
      return ms;
    };
    const txs = Array.from({ length: 5 }, (_, i) => pay(time, BigInt(i + 1)));
    const block = await makeBlock(at.blockchain, miner, time, async (draft) => {
      const areIn = txs.map((tx) => added(draft, tx) !== undefined);
      t.same(areIn, [true, true, true, false, false]);
      const plain = payment(bob, carol, 1n, time);
      draft.add(plain, unchecked(plain));
    });
    t.equal(block.transactions.length, 4);
    await at.blockchain.rollback(2);
    const longer = remade(block, miner, { transactions: txs.map(({ bytes }) => bytes) });
    await at.blockchain.append(longer);
    t.equal(at.blockchain.tip().height, 3);
  },
);

t.test('a transaction of many scripts fits into a block where it comes early enough', async (t) => {
  let ms = 0;
  const scriptTime = createScriptTime({ monotonic: () => ms });
  const slow = () => {
    ms += 600;
  };
  scriptTime.begin();
  for (let i = 0; i < 5; i++) scriptTime.run(slow);
  scriptTime.begin();
  t.throws(() => scriptTime.run(slow), { message: /scripts have taken 1000 ms/ });
  t.equal(ms, 3000, 'the last one has not run');
});

t.test('a failed script counts', async (t) => {
  let ms = 0;
  const scriptTime = createScriptTime({ monotonic: () => ms });
  scriptTime.begin();
  const failing = () => {
    ms += 1000;
    throw new Error('refused');
  };
  t.throws(() => scriptTime.run(failing), { message: 'refused' });
  scriptTime.begin();
  t.throws(() => scriptTime.run(failing), { message: /scripts have taken 1000 ms/ });
});

t.test('scenario 27: a block of a generator with a script', async (t) => {
  const at = await newChain();
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  // No transaction can give a script to a miner.
  await makeBlock(at.blockchain, miner, time, async (draft) => {
    for (const { address } of miners) draft.overlay.set(scripts, address, compiled('true'));
  });
  t.equal(at.blockchain.nextSlot(miner, time + 1), undefined, 'it does not try');
  const refusal = { message: /is scripted are therefore not allowed to forge blocks/ };
  const next = time + miners.length * LENGTH_MS;
  at.clock.time = next;
  await t.rejects(
    makeBlock(at.blockchain, miner, next, async () => {}),
    refusal,
  );
});

const added = (draft: BlockDraft, tx: Tx): number | undefined =>
  add(draft, { tx, verdicts: unchecked(tx) }, 1e6);

const key = ({ publicKey }: Account): string => `base58'${base58.encode(publicKey)}'`;

t.test('checks that a script asks for are made in advance', async (t) => {
  const at = await guarded(
    `let body = tx.bodyBytes
     let bobs = sigVerify(body, tx.proofs[0], ${key(bob)})
     bobs && match tx { case t: TransferTransaction => sigVerify(t.bodyBytes, t.proofs[1], tx.senderPublicKey) case _ => false }`,
  );
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  const planner = new CheckPlanner(at.blockchain.view, endlessSlice, 10);
  const tx = pay(time, 1n, [bob, alice]);
  const plan = await planner.plan(tx);
  t.same(plan, [
    [
      { proof: 0, publicKey: bob.publicKey },
      { proof: 1, publicKey: undefined },
    ],
  ]);
  const asked: Uint8Array[] = [];
  const verdicts = async (...answers: boolean[]) => {
    const checks = new ProofChecks();
    checks.add(tx, plan);
    await checks.ask({
      async verify(items) {
        asked.push(...items.map(({ publicKey }) => publicKey));
        return answers;
      },
    });
    return checks.verdicts(0);
  };
  const half = await verdicts(true, false);
  t.same(asked, [bob.publicKey, alice.publicKey]);
  const both = await verdicts(true, true);
  await makeBlock(at.blockchain, miner, time, async (draft) => {
    t.throws(() => draft.add(tx, half), ApiError, 'the verdict is believed');
    draft.add(tx, both);
    const more = pay(time, 2n, [bob, alice]);
    draft.add(more, unchecked(more));
    const forged = pay(time, 3n, [bob, bob]);
    t.throws(() => draft.add(forged, unchecked(forged)), ApiError, 'without one it checks itself');
  });
  t.equal(planner.plan(payment(bob, carol, 1n, time)), undefined);
  t.same(planner.plan(pay(time, 1n)), [[]], 'no proofs, no checks');
});

/** Alice stores it and bob pays, with these proofs. */
function paidByBob(time: number, by: readonly Account[]): Tx {
  const input = {
    senderPublicKey: alice.publicKey,
    authorPublicKey: bob.publicKey,
    data: [{ key: 'k', type: 'string', value: 'v' }],
    timestamp: time,
    fee: (data.fee ?? 0n) + 400_000n,
  } as const;
  const layout = data.layouts[0]!;
  const bare = buildTx(data, layout, input, [], scheme);
  const proofs = by.map((one) => one.sign(signedBytes(bare)));
  return buildTx(data, layout, input, proofs, scheme) as unknown as Tx;
}

t.test('scenario 65: a check of the sender says nothing about the author', async (t) => {
  const at = await guarded('sigVerify(tx.bodyBytes, tx.proofs[0], tx.senderPublicKey) || true');
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  const empty = await makeBlock(at.blockchain, miner, time, async () => {});
  await at.blockchain.rollback(2);
  const withOne = (tx: Tx) => remade(empty, miner, { transactions: [tx.bytes] });
  await t.rejects(at.blockchain.append(withOne(paidByBob(time, [alice]))), {
    message: /The first proof is not a signature of the author/,
  });
  await at.blockchain.append(withOne(paidByBob(time, [bob])));
  t.equal(at.blockchain.tip().height, 3);
});

t.test('a script that appears or goes between the check and the judgement', async (t) => {
  const at = await guarded('sigVerify(tx.bodyBytes, tx.proofs[0], tx.senderPublicKey)');
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  const good = pay(time, 1n, [alice]);
  const bad = pay(time, 2n, [bob]);
  const [plannedGood, plannedBad] = await Promise.all(
    [good, bad].map((tx) => checkProofs(tx, [[]], verifier)),
  );
  await makeBlock(at.blockchain, miner, time, async (draft) => {
    draft.overlay.remove(scripts, alice.address);
    draft.add(good, plannedGood!);
    t.throws(() => draft.add(bad, plannedBad!), /doesn't validate as signature/);
    draft.overlay.set(scripts, alice.address, compiled('false'));
    const next = pay(time, 3n, [alice]);
    t.throws(() => draft.add(next, unchecked(next)), /not allowed by account-script/);
  });
});
