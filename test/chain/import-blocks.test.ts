// Imports refuse what is in the chain already, wherever it stands.
import t, { type Test } from 'tap';
import type { Block } from '../../src/block/block.ts';
import { importBlocks, importLimits, replayBlocks } from '../../src/chain/import-blocks.ts';
import { confirmedHeight } from '../../src/chain/stored-blocks.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import {
  mine,
  miners,
  newChain,
  payment,
  remade,
  scheme,
  type TestChain,
  users,
  verifier,
} from './chain-harness.ts';

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

t.test('another chain than the one that is stored', async (t) => {
  const chain = await source();
  const { blockchain } = await emptyChain(chain);
  await importBlocks(blockchain, verifier, chain.blocks, { from: 2 });
  const other = endingWith(chain, []);
  await t.rejects(importBlocks(blockchain, verifier, other, { from: 2 }), {
    message: `Block ${COUNT + 1} differs from the one in the data directory`,
  });
});
