// Imports refuse what is in the chain already, wherever it stands.
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { VerifyQueueFullError } from '../../../src/adapters/verify/signature-queue.ts';
import type { Verifier } from '../../../src/base/ports/verifier.ts';
import type { Block } from '../../../src/block/block.ts';
import {
  importBlocks,
  importLimits,
  replayBlocks,
} from '../../../src/chain/import/import-blocks.ts';
import { confirmedHeight } from '../../../src/chain/store/stored-blocks.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { issue } from '../../../src/tx/types/003-issue.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { bulky } from '../../mempool/bulky-transactions.ts';
import { tradeTx } from '../../system/crash/witness/unsigned.ts';
import {
  mine,
  miners,
  newChain,
  payment,
  remade,
  scheme,
  signed,
  type TestChain,
  users,
  verifier,
} from '../chain-harness.ts';

const [alice, bob] = users;
const COUNT = 12;

interface Source {
  readonly blocks: readonly Block[];
  readonly txs: readonly Tx[];
  readonly time: number;
}

async function source(): Promise<Source> {
  const at = await newChain();
  const blocks: Block[] = [];
  const txs: Tx[] = [];
  for (let i = 0; i < COUNT; i++) {
    const tx = payment(alice, bob, BigInt(i + 1), at.clock.time);
    txs.push(tx);
    blocks.push(await mine(at, [tx]));
  }
  return { blocks, txs, time: at.clock.time };
}

/** The last block holds these transactions instead of its own. */
function endingWith({ blocks }: Source, txs: readonly Tx[]): Block[] {
  const last = blocks.at(-1)!;
  const miner = miners.find(({ address }) =>
    Buffer.from(scheme.addressOf(last.header.generator)).equals(address),
  );
  return [
    ...blocks.slice(0, -1),
    remade(last, miner!, { transactions: txs.map(({ bytes }) => bytes) }),
  ];
}

function blocksPerCommit(t: Test, count: number): void {
  const before = importLimits.blocksPerCommit;
  importLimits.blocksPerCommit = count;
  t.teardown(() => {
    importLimits.blocksPerCommit = before;
  });
}

async function emptyChain({ time }: Source): Promise<TestChain> {
  const target = await newChain();
  target.clock.time = time;
  return target;
}

for (const [where, repeated] of [
  ['in the same block', ({ txs }: Source) => [txs.at(-1)!, txs.at(-1)!]],
  ['in a block that is not committed', ({ txs }: Source) => [txs.at(-1)!, txs.at(-2)!]],
  ['in a block that is committed', ({ txs }: Source) => [txs.at(-1)!, txs[0]!]],
] as const) {
  for (const begun of [0, 3]) {
    t.test(`a transaction that stands ${where}, ${begun} blocks stored before`, async (t) => {
      blocksPerCommit(t, 4);
      const chain = await source();
      const blocks = endingWith(chain, repeated(chain));
      const target = await emptyChain(chain);
      const { blockchain } = target;
      await importBlocks(blockchain, verifier, blocks.slice(0, begun), { from: 2 });
      const rest = replayBlocks(blockchain, blocks, { from: 2 });
      await t.rejects(rest, { code: 112, message: /is already in the state on a height of/ });
      t.equal(blockchain.tip().height, COUNT, 'the blocks before it are stored');
    });
  }
}

t.test('ids are found after an import', async (t) => {
  blocksPerCommit(t, 5);
  const chain = await source();
  const { blockchain } = await emptyChain(chain);
  t.equal(await importBlocks(blockchain, verifier, chain.blocks, { from: 2 }), COUNT);
  for (const [i, { id }] of chain.txs.entries()) {
    t.equal(confirmedHeight(blockchain.view, id), i + 2);
  }
});

t.test('a stream that ends with an error', async (t) => {
  const chain = await source();
  async function* broken(blocks: readonly Block[]) {
    yield* blocks;
    throw new Error('the file is cut off');
  }
  for (const append of [
    (to: TestChain, from: AsyncIterable<Block>) =>
      importBlocks(to.blockchain, verifier, from, { from: 2 }),
    (to: TestChain, from: AsyncIterable<Block>) => replayBlocks(to.blockchain, from, { from: 2 }),
  ]) {
    const target = await emptyChain(chain);
    await t.rejects(append(target, broken(chain.blocks)), { message: 'the file is cut off' });
    t.equal(target.blockchain.tip().height, COUNT + 1, 'the blocks before it are stored');

    const refusing = await emptyChain(chain);
    const bad = endingWith(chain, [chain.txs.at(-1)!, chain.txs.at(-1)!]);
    await t.rejects(append(refusing, broken([...bad, ...chain.blocks])), { code: 112 });
    t.equal(refusing.blockchain.tip().height, COUNT, 'the bad block comes first');
  }
});

t.test('a block whose transactions cannot be decoded', async (t) => {
  const chain = await source();
  const last = chain.blocks.at(-1)!;
  const target = await emptyChain(chain);
  const blocks = [...chain.blocks.slice(0, -1), { ...last, transactions: [Buffer.from([255])] }];
  await t.rejects(importBlocks(target.blockchain, verifier, blocks, { from: 2 }));
  t.equal(target.blockchain.tip().height, COUNT, 'the blocks before it are stored');
});

/** Says that it is full above a number of checks, or bytes of messages; it answers after a while. */
function smallVerifier(max: { readonly checks?: number; readonly messageBytes?: number }) {
  const { checks = Number.POSITIVE_INFINITY, messageBytes = Number.POSITIVE_INFINITY } = max;
  let [pending, pendingBytes] = [0, 0];
  const jobs: number[] = [];
  const small: Verifier = {
    ...verifier,
    async verify(items) {
      const bytes = items.reduce((sum, { message }) => sum + message.length, 0);
      if (pending + items.length > checks || pendingBytes + bytes > messageBytes) {
        throw new VerifyQueueFullError(`${pending} signature checks are waiting already`);
      }
      jobs.push(items.length);
      pending += items.length;
      pendingBytes += bytes;
      await sleep(50);
      pending -= items.length;
      pendingBytes -= bytes;
      return verifier.verify(items);
    },
  };
  return { small, jobs };
}

function ahead(t: Test, limits: Partial<typeof importLimits>): void {
  const before = { ...importLimits };
  Object.assign(importLimits, limits);
  t.teardown(() => Object.assign(importLimits, before));
}

const TRADES = 30;

/** Blocks of trades, each with three proofs: of the matcher, and of both orders. */
async function marketBlocks(): Promise<Source> {
  const at = await newChain();
  const blocks: Block[] = [];
  const add = async (txs: readonly Tx[]): Promise<void> => {
    blocks.push(await mine(at, txs));
  };
  const matcher = miners[0]!;
  const gold = { name: 'gold', description: 'gold', quantity: 1_000_000n, decimals: 0 };
  const about = { reissuable: false, script: undefined, fee: issue.fee, ...gold };
  const asset = signed(issue, matcher, { ...about, timestamp: at.clock.time } as never);
  const dex = {
    target: { kind: 'address', bytes: matcher.address },
    opType: 'add',
    role: 'dex',
    ...{ fee: permit.fee, timestamp: at.clock.time },
  };
  await add([asset, signed(permit, matcher, dex as never, 1)]);
  const traders = { matcher, buyer: alice, seller: matcher, asset: asset.id };
  for (let block = 0; block < 4; block++) {
    const { time } = at.clock;
    await add(Array.from({ length: TRADES }, (_, i) => tradeTx(traders, time + i, alice, scheme)));
  }
  return { blocks, txs: [], time: at.clock.time };
}

t.test('proofs of orders count, and a block waits for room', async (t) => {
  const chain = await marketBlocks();
  const ofBlock = 3 * TRADES + 1;
  ahead(t, { checksAhead: ofBlock + 10 });
  const target = await emptyChain(chain);
  const { small, jobs } = smallVerifier({ checks: ofBlock + 10 });
  const count = await importBlocks(target.blockchain, small, chain.blocks, { from: 2 });
  t.equal(count, 4 * TRADES + 2);
  t.same(jobs, [3, ofBlock, ofBlock, ofBlock, ofBlock]);
});

t.test('so do the bytes of their messages', async (t) => {
  const at = await newChain();
  const blocks: Block[] = [];
  for (let i = 0; i < 4; i++) blocks.push(await mine(at, [bulky(alice, at.clock.time)]));
  const target = await emptyChain({ blocks, txs: [], time: at.clock.time });
  ahead(t, { messageBytesAhead: 400_000 });
  const { small, jobs } = smallVerifier({ messageBytes: 400_000 });
  await importBlocks(target.blockchain, small, blocks, { from: 2 });
  t.same(jobs, [2, 2, 2, 2]);
});

t.test('another chain than the one that is stored', async (t) => {
  const chain = await source();
  const { blockchain } = await emptyChain(chain);
  await importBlocks(blockchain, verifier, chain.blocks, { from: 2 });
  const other = endingWith(chain, []);
  await t.rejects(importBlocks(blockchain, verifier, other, { from: 2 }), {
    message: `Block ${COUNT + 1} differs from the one in the data directory`,
  });
});
