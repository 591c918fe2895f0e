import t from 'tap';
import { decodeBlock } from '../../src/block/block.ts';
import { importBlocks } from '../../src/chain/import/import-blocks.ts';
import { blockAt, findTransaction, transactionsOf } from '../../src/chain/store/stored-blocks.ts';
import { accountOf } from '../../src/ledger/accounts.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import {
  FUNDS,
  GENESIS_TIME,
  LENGTH_MS,
  mine,
  miners,
  newChain,
  nextTurn,
  payment,
  ROUND_MS,
  remade,
  scheme,
  signed,
  users,
  verifier,
} from './chain-harness.ts';

const [alice, bob, carol] = users;
const FEE = 1_000_000n;

t.test(
  'a mined block moves funds, pays its generator and is found by id and address',
  async (t) => {
    const at = await newChain();
    const tx = payment(alice, bob, 5n, GENESIS_TIME);
    const block = await mine(at, [tx]);
    const { view } = at.blockchain;
    t.equal(at.blockchain.tip().height, 2);
    t.equal(accountOf(view, bob.address).balance, FUNDS + 5n);
    t.equal(accountOf(view, alice.address).balance, FUNDS - 5n - FEE);
    t.equal(accountOf(view, scheme.addressOf(block.header.generator)).balance, FUNDS + FEE);
    t.equal(findTransaction(view, tx.id)?.height, 2);
    t.same(
      [...transactionsOf(view, bob.address, 10)].map(({ height }) => height),
      [2, 1],
    );
    t.same(blockAt(view, 2)?.bytes, block.bytes, 'the stored block has the bytes that were signed');
  },
);

t.test('two chains that saw the same blocks have the same state', async (t) => {
  const first = await newChain();
  const second = await newChain();
  for (let i = 0; i < 6; i++) {
    const txs = [
      payment(alice, bob, 7n, first.clock.time),
      payment(bob, carol, 3n, first.clock.time),
    ];
    const block = await mine(first, txs);
    second.clock.time = first.clock.time;
    await second.blockchain.append(decodeBlock(block.bytes, scheme));
    const { height } = first.blockchain.tip();
    t.same(second.blockchain.stateHash(height), first.blockchain.stateHash(height));
  }
});

t.test('a rollback restores the state, and the blocks can be appended again', async (t) => {
  const at = await newChain();
  const blocks = [];
  for (let i = 0; i < 5; i++) blocks.push(await mine(at, [payment(alice, bob, 1n, at.clock.time)]));
  const hash = at.blockchain.stateHash(6);
  const removed = await at.blockchain.rollback(3);
  t.equal(removed.length, 3);
  t.equal(at.blockchain.tip().height, 3);
  t.equal(accountOf(at.blockchain.view, bob.address).balance, FUNDS + 2n);
  t.equal([...transactionsOf(at.blockchain.view, bob.address, 10)].length, 3);
  t.equal(at.blockchain.stateHash(4), undefined);
  for (const block of blocks.slice(2)) await at.blockchain.append(block);
  t.same(at.blockchain.stateHash(6), hash);
  await t.rejects(at.blockchain.rollback(7), { code: 199 });
});

t.test('an import ends with the same state hash, resumes, and stops at a bad block', async (t) => {
  const source = await newChain();
  const blocks = [];
  for (let i = 0; i < 70; i++) {
    blocks.push(await mine(source, [payment(alice, bob, BigInt(i + 1), source.clock.time)]));
  }
  const target = await newChain();
  target.clock.time = source.clock.time;
  t.equal(await importBlocks(target.blockchain, verifier, blocks.slice(0, 30), { from: 2 }), 30);
  t.equal(await importBlocks(target.blockchain, verifier, blocks, { from: 2 }), 40);
  t.same(target.blockchain.stateHash(71), source.blockchain.stateHash(71));

  const broken = await newChain();
  broken.clock.time = source.clock.time;
  const bytes = blocks[20]!.bytes.slice();
  bytes[bytes.length - 1]! ^= 1;
  const damaged = [...blocks.slice(0, 20), decodeBlock(bytes, scheme), ...blocks.slice(21)];
  await t.rejects(importBlocks(broken.blockchain, verifier, damaged, { from: 2 }), { code: 101 });
  t.equal(broken.blockchain.tip().height, 21, 'what came before the bad block is kept');
});

t.test('a block that breaks a rule leaves the chain as it was', async (t) => {
  const at = await newChain();
  await mine(at);
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  const tx = payment(alice, bob, 1n, time);
  const good = remade(blockAt(at.blockchain.view, 2)!, miner, {
    timestamp: time,
    reference: at.blockchain.tip().id,
    consensus: { kind: 'poa', skippedRounds: 0 },
    features: [],
    transactions: [tx.bytes],
  });
  const before = at.blockchain.stateHash(2);
  const other = miners.find((one) => one !== miner)!;
  const refused = async (name: string, block: typeof good, message: RegExp) => {
    await t.rejects(at.blockchain.append(block), { message }, name);
    t.equal(at.blockchain.tip().height, 2);
  };
  await refused('by another miner', remade(good, other, {}), /isn't a valid miner/);
  await refused('by an account without the role', remade(good, alice, {}), /is not a miner/);
  await refused('one round early', remade(good, miner, { timestamp: time - LENGTH_MS }), /round/);
  await refused(
    'scenario 19: in the sync part of the round',
    remade(good, miner, { timestamp: time - 10 + ROUND_MS }),
    /BlockFromFuture/,
  );
  at.clock.time = time + ROUND_MS;
  await refused(
    'scenario 19: in the sync part, when its time has come',
    remade(good, miner, { timestamp: time - 10 + ROUND_MS }),
    /after sync start/,
  );
  at.clock.time = time;
  await refused(
    'scenario 23: with skipped rounds overstated',
    remade(good, miner, { consensus: { kind: 'poa', skippedRounds: 1 } }),
    /skipped/i,
  );
  await refused(
    'of another parent',
    remade(good, miner, { reference: new Uint8Array(64).fill(7) }),
    /not a child of the last block/,
  );
  const forged = tx.bytes.slice();
  forged[forged.length - 1]! ^= 1;
  await refused(
    'with a forged transaction',
    remade(good, miner, { transactions: [forged] }),
    /proof/,
  );
  await refused(
    'with a transaction twice',
    remade(good, miner, { transactions: [tx.bytes, tx.bytes] }),
    /already in the state/,
  );
  await refused(
    'with bytes that are no transaction',
    remade(good, miner, { transactions: [Uint8Array.of(99, 1)] }),
    /^Bad transaction type \(99\) and version \(1\)$/,
  );
  await refused(
    'with a transaction that is not whole',
    remade(good, miner, { transactions: [tx.bytes.subarray(0, 20)] }),
    /^bytes: unexpected end of data$/,
  );
  await refused(
    'with another version',
    remade(good, miner, { version: 1, features: [] }),
    /version 3/,
  );
  const bits = good.bytes.slice();
  bits[bits.length - 70]! ^= 1;
  await refused('scenario 22: with a flipped bit', decodeBlock(bits, scheme), /signature|miner/);
  t.same(at.blockchain.stateHash(2), before);
  await at.blockchain.append(good);
  t.equal(at.blockchain.tip().height, 3);
});

t.test('scenario 20: a timestamp 99 ms ahead is accepted, 101 ms ahead later on', async (t) => {
  const source = await newChain();
  const block = await mine(source);
  const at = await newChain();
  at.clock.time = block.header.timestamp - 101;
  await t.rejects(at.blockchain.append(block), { message: /BlockFromFuture/ });
  at.clock.time = block.header.timestamp - 99;
  await at.blockchain.append(block);
  t.equal(at.blockchain.tip().height, 2);
});

t.test(
  'scenario 24: transactions of exactly the limit are accepted, one byte more is not',
  async (t) => {
    const { checkLimits } = await import('../../src/block/block.ts');
    const at = await newChain();
    const block = await mine(at, [payment(alice, bob, 1n, at.clock.time)]);
    const size = block.transactions[0]!.length;
    checkLimits(block, { transactionBytesMax: size, transactionsMax: undefined });
    t.throws(
      () => checkLimits(block, { transactionBytesMax: size - 1, transactionsMax: undefined }),
      {
        message: /Limit of txs was reached/,
      },
    );
  },
);

t.test('scenario 29: a block that is applied already changes nothing', async (t) => {
  const at = await newChain();
  const block = await mine(at, [payment(alice, bob, 1n, at.clock.time)]);
  const before = at.blockchain.stateHash(2);
  for (let i = 0; i < 20; i++) {
    await t.rejects(at.blockchain.append(block), { message: /not a child of the last block/ });
  }
  t.equal(at.blockchain.tip().height, 2);
  t.same(at.blockchain.stateHash(2), before);
});

t.test(
  'scenario 31: a miner whose role ends mines up to that time and is absent afterwards',
  async (t) => {
    const at = await newChain();
    const { miner, time } = nextTurn(at);
    const permissioner = miners.find((one) => one !== miner)!;
    const removal = signed(
      permit,
      permissioner,
      {
        target: { kind: 'address', bytes: miner.address },
        timestamp: time + 1,
        fee: FEE,
        opType: 'remove',
        role: 'miner',
        dueTimestamp: undefined,
      } as never,
      1,
    );
    await mine(at, [removal]);
    t.same(at.blockchain.tip().header.generator, miner.publicKey, 'its own block removes it');
    const generators = new Set<string>();
    for (let i = 0; i < 6; i++) {
      const block = await mine(at);
      generators.add(scheme.addressToText(scheme.addressOf(block.header.generator)));
    }
    t.equal(generators.size, 2);
    t.notOk(generators.has(miner.text));
  },
);
