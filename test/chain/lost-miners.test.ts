// A chain whose miners are banned goes on: where nobody else is left in the queue, and where all others are
// gone from the network. Every route judges such a block alike.

import t from 'tap';
import { decodeBlock } from '../../src/block/block.ts';
import { importBlocks, replayBlocks } from '../../src/chain/import/import-blocks.ts';
import { blockAt } from '../../src/chain/store/stored-blocks.ts';
import { decodeBanHistory, isBanned } from '../../src/consensus/ban-history.ts';
import { bans, roleHolders, vitalHolders } from '../../src/ledger/tables.ts';
import { feature } from '../../src/tx/rules/features.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import {
  type Account,
  consensusOf,
  LENGTH_MS,
  miners,
  newChain,
  rules,
  scheme,
  signed,
  type TestChain,
  verifier,
} from './chain-harness.ts';
import { createTestForkChoice } from './fork-harness.ts';
import { makeBlock } from './make-block.ts';

const [one, two, away] = miners as [Account, Account, Account];
const WITH = {
  ...rules,
  preActivatedFeatures: new Map([...rules.preActivatedFeatures, [feature.liveness, 0]]),
};
const TURNS_MAX = 40;

/** The next block of any of these; false where none of them ever has a turn. */
async function mineBy(
  at: TestChain,
  able: readonly Account[],
  txs: (time: number) => readonly Tx[] = () => [],
): Promise<boolean> {
  const { timestamp } = at.blockchain.tip().header;
  const turns = able.flatMap((miner) => {
    const slot = at.blockchain.nextSlot(miner, timestamp + 1);
    return slot === undefined ? [] : [{ miner, time: slot.from + 10 }];
  });
  const [turn] = turns.sort((a, b) => a.time - b.time);
  if (turn === undefined) return false;
  at.clock.time = turn.time;
  await makeBlock(at.blockchain, turn.miner, turn.time, async (draft) => {
    for (const tx of txs(turn.time)) draft.replay(tx);
  });
  return true;
}

/** The third miner makes blocks, and then misses turns until it is banned. */
async function banned(settings: typeof rules): Promise<TestChain> {
  const at = await newChain(undefined, settings);
  for (let i = 0; i < 2 * miners.length; i++) await mineBy(at, miners);
  for (let i = 0; !isAwayBanned(at); i++) {
    if (i > TURNS_MAX) throw new Error('it is banned');
    await mineBy(at, [one, two]);
  }
  return at;
}

function isAwayBanned({ blockchain }: TestChain): boolean {
  const row = blockchain.view.get(bans, away.address);
  return row !== undefined && isBanned(decodeBanHistory(row, scheme), blockchain.tip().height, 10);
}

const leave = (miner: Account, timestamp: number): Tx =>
  signed(
    permit,
    miner,
    {
      ...{ opType: 'remove', role: 'miner', dueTimestamp: undefined, fee: permit.fee },
      target: { kind: 'address', bytes: miner.address },
      timestamp,
    } as never,
    1,
  );

/** The two that make blocks give up their roles, in one block; the banned one is left. */
async function left(settings: typeof rules): Promise<TestChain> {
  const at = await banned(settings);
  await mineBy(at, [one, two], (time) => [leave(one, time), leave(two, time)]);
  return at;
}

async function blocksOf({ blockchain }: TestChain) {
  const { height } = blockchain.tip();
  return Array.from({ length: height - 1 }, (_, i) => blockAt(blockchain.view, i + 2)!);
}

const stateOf = ({ blockchain }: TestChain): string =>
  Buffer.from(blockchain.stateHash(blockchain.tip().height)!).toString('hex');

t.test('the others leave the queue', async (t) => {
  const old = await left(rules);
  t.notOk(await mineBy(old, miners), 'that was the end');
  const at = await left(WITH);
  const { height, header } = at.blockchain.tip();
  const skipped = (header.consensus as { skippedRounds: number }).skippedRounds;
  for (let i = 1; i <= 12; i++) {
    t.ok(await mineBy(at, miners));
    t.same(at.blockchain.tip().header.generator, away.publicKey);
    t.match(
      at.blockchain.tip().header.consensus,
      { skippedRounds: skipped },
      'at once, no round is lost',
    );
  }
  t.equal(at.blockchain.tip().height, height + 12);
});

t.test('the others are gone', async (t) => {
  const old = await banned(rules);
  t.notOk(await mineBy(old, [away]));
  const at = await banned(WITH);
  const { header } = at.blockchain.tip();
  t.ok(await mineBy(at, [away]));
  const rounds = (at.blockchain.tip().header.timestamp - header.timestamp) / LENGTH_MS;
  t.ok(rounds > miners.length, 'only after everybody else has missed a turn');
  t.ok(rounds <= 2 * miners.length + 1);
  t.ok(await mineBy(at, [away]), 'again');
  await mineBy(at, [one, two, away]);
  t.notSame(at.blockchain.tip().header.generator, away.publicKey, 'the others come first');
});

t.test('nobody is let in early', async (t) => {
  const at = await banned(WITH);
  const { header } = at.blockchain.tip();
  for (let round = 1; round <= miners.length; round++) {
    await t.rejects(
      makeBlock(at.blockchain, away, header.timestamp + round * LENGTH_MS, async () => undefined),
      /isn't a valid miner|All miners are banned/,
      `round ${round}`,
    );
  }
});

t.test('every route takes such blocks, with one state', async (t) => {
  const at = await left(WITH);
  for (let i = 0; i < 5; i++) await mineBy(at, miners);
  const blocks = await blocksOf(at);
  const routes: Record<string, (to: TestChain) => Promise<unknown>> = {
    append: async ({ blockchain }) => {
      for (const block of blocks) await blockchain.append(block);
    },
    import: ({ blockchain }) => importBlocks(blockchain, verifier, blocks, { from: 2 }),
    replay: ({ blockchain }) => replayBlocks(blockchain, blocks, { from: 2 }),
    branch: async (to) => {
      const fork = createTestForkChoice(to, { consensus: consensusOf(WITH) });
      const own = blocks.slice(0, -4);
      for (const block of own) await to.blockchain.append(block);
      // A fork of its own, made later, which the branch replaces.
      await mineBy({ ...to, clock: { ...to.clock } }, miners);
      const branch = blocks.slice(-4).map(({ bytes }) => decodeBlock(bytes, scheme));
      await fork.adopt(await Promise.all(branch.map((block) => fork.check(block))));
    },
  };
  for (const [name, take] of Object.entries(routes)) {
    const to = await newChain(undefined, WITH);
    to.clock.time = at.clock.time + LENGTH_MS;
    await take(to);
    t.equal(stateOf(to), stateOf(at), name);
    await to.blockchain.rollback(to.blockchain.tip().height - 3);
    t.ok(await mineBy(to, miners), 'and after a rollback');
  }
  const other = await newChain(undefined, rules);
  other.clock.time = at.clock.time + LENGTH_MS;
  await t.rejects(importBlocks(other.blockchain, verifier, blocks, { from: 2 }), /banned/);
});

t.test('by vote: from the height at which the feature is active', async (t) => {
  const voting = { ...rules, featureCheckBlocks: 4, featureApprovalVotes: 3 };
  const young = await newChain(undefined, voting);
  while (young.blockchain.tip().height < 7) await mineBy(young, miners);
  const at = await left(voting);
  t.ok(at.blockchain.tip().height >= 8, 'it is active by now');
  t.ok(await mineBy(at, [away]));
  const early = { ...rules, featureCheckBlocks: 1000, featureApprovalVotes: 3 };
  const never = await left(early);
  t.notOk(await mineBy(never, [away]), 'approved by nobody yet');
});

t.test('the queue and the votes at a lower height are those of then', async (t) => {
  const voting = { ...rules, featureCheckBlocks: 4, featureApprovalVotes: 3 };
  const at = await newChain(undefined, voting);
  while (at.blockchain.tip().height < 9) await mineBy(at, miners);
  await mineBy(at, miners, (time) => [leave(one, time)]);
  await mineBy(at, miners, (time) => [leave(two, time)]);
  const { timestamp } = at.blockchain.tip().header;
  await at.blockchain.exclusive(async (chain) => {
    for (const [height, count] of [
      [11, 1],
      [10, 2],
      [9, 3],
    ] as const) {
      const { members } = (await chain.consensusAt(height)).minersAt(timestamp + 1);
      t.equal(members.length, count, `at height ${height}`);
    }
    t.equal((await chain.consensusAt(4)).approvedAt(feature.liveness), 4);
    t.equal((await chain.consensusAt(3)).approvedAt(feature.liveness), undefined);
  });
});

t.test('turns are those of the head, after a rollback too', async (t) => {
  const store = createMemoryStore();
  let reads = 0;
  const counted: typeof store = {
    ...store,
    range: (table, ...args) => {
      if (table === roleHolders.id || table === vitalHolders.id) reads += 1;
      return store.range(table, ...args);
    },
  };
  const at = await newChain(counted, WITH);
  while (at.blockchain.tip().height < 5) await mineBy(at, miners);
  await mineBy(at, miners, (time) => [leave(one, time), leave(two, time)]);
  const slots = (): readonly boolean[] => {
    const { timestamp } = at.blockchain.tip().header;
    return miners.map((miner) => at.blockchain.nextSlot(miner, timestamp + 1) !== undefined);
  };
  reads = 0;
  for (let second = 0; second < 10; second++) t.strictSame(slots(), [false, false, true]);
  t.equal(reads, 1, 'read once for the head');
  await at.blockchain.rollback(5);
  await mineBy(at, miners);
  t.equal(at.blockchain.tip().height, 6);
  t.strictSame(slots(), [true, true, true]);
});
