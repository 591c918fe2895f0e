// Blocks in a chain with finality (finality.md#blocks): version, binding, justification, voters as state.

import t, { type Test } from 'tap';
import { equal } from '../../../src/base/bytes.ts';
import { type Block, decodeBlock, encodeBlock } from '../../../src/block/block.ts';
import { decodeLink, encodeLink } from '../../../src/block/header.ts';
import { versionIn } from '../../../src/chain/finality/finality-rules.ts';
import { leavesAt, rootHeight } from '../../../src/chain/finality/finality-state.ts';
import { importBlocks } from '../../../src/chain/import/import-blocks.ts';
import { blockAt } from '../../../src/chain/store/stored-blocks.ts';
import { voterSets } from '../../../src/ledger/tables.ts';
import { feature } from '../../../src/tx/rules/features.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import {
  type Account,
  mine,
  miners,
  newChain,
  nextTurn,
  payment,
  remade,
  rules,
  scheme,
  signed,
  type TestChain,
  users,
  verifier,
} from '../chain-harness.ts';
import {
  blocksOf,
  chainWith,
  justificationOf,
  linkTo,
  mineCarrying,
  WITH_FINALITY,
} from '../finality-harness.ts';
import { createTestForkChoice } from '../fork-harness.ts';
import { makeBlock } from '../make-block.ts';

const NOTHING = new Uint8Array(0);
const fresh = ({ bytes }: Block): Block => decodeBlock(bytes, scheme);
const makerOf = ({ header }: Block): Account =>
  miners.find(({ publicKey }) => equal(publicKey, header.generator))!;

/** A node with the blocks below this one, to which the block comes. */
async function takes(block: Block, before: readonly Block[], settings = WITH_FINALITY) {
  const at = await chainWith(settings);
  at.clock.time = block.header.timestamp + 1;
  for (const one of before) await at.blockchain.append(fresh(one));
  return at.blockchain.append(fresh(block));
}

const hashOf = ({ blockchain }: TestChain): string =>
  `${blockchain.stateHash(blockchain.tip().height)}`;

/** All other ways to the same chain come to the same state. */
async function sameElsewhere(t: Test, at: TestChain, settings = WITH_FINALITY): Promise<void> {
  const { view } = at.blockchain;
  const { height } = at.blockchain.tip();
  const blocks = Array.from({ length: height - 1 }, (_, i) => fresh(blockAt(view, i + 2)!));
  const byOne = await chainWith(settings);
  byOne.clock.time = at.clock.time;
  for (const block of blocks) await byOne.blockchain.append(block);
  t.equal(hashOf(byOne), hashOf(at), 'by one');
  const imported = await chainWith(settings);
  imported.clock.time = at.clock.time;
  await importBlocks(imported.blockchain, verifier, blocks, { from: 2 });
  t.equal(hashOf(imported), hashOf(at), 'imported');
  const branch = await chainWith(settings);
  branch.clock.time = at.clock.time;
  const choice = createTestForkChoice(branch);
  const checked = await Promise.all(blocks.map((block) => choice.check(block)));
  t.match(await choice.adopt(checked), { kind: 'adopted' });
  t.equal(hashOf(branch), hashOf(at), 'as a branch');
  await branch.blockchain.rollback(1);
  t.strictSame(
    [...branch.blockchain.view.range(voterSets, NOTHING, Uint8Array.of(255), 10)].length,
    1,
  );
  for (const block of blocks) await branch.blockchain.append(block);
  t.equal(hashOf(branch), hashOf(at), 'after a rollback');
}

t.test('the version follows the feature', async (t) => {
  const plain = await newChain();
  const old = await mine(plain);
  t.equal(old.header.version, 3);
  const bound = await mine(await chainWith());
  t.equal(bound.header.version, 100);
  await t.rejects(takes(bound, [], rules), /Expected block version 3/);
  await t.rejects(takes(old, []), /Expected block version 100/);
  const features = new Set([feature.finality]);
  const generationSignature = new Uint8Array(32);
  const pos = { kind: 'pos', baseTarget: 1n, generationSignature } as const;
  t.equal(versionIn({ features }, { consensus: pos }), 3, 'without effect under proof of stake');
});

t.test('a block binds its parent and its body', async (t) => {
  const at = await chainWith();
  const first = await mine(at);
  const { time } = nextTurn(at);
  const tx = payment(users[0], users[1], 5n, time);
  const second = await mineCarrying(at, NOTHING, [tx]);
  await takes(second, [first]);
  const parentHash = new Uint8Array(32);
  const elsewhere = { ...second.header.bound!, parentHash };
  const unbound = remade(second, makerOf(second), { bound: elsewhere });
  await t.rejects(takes(unbound, [first]), /another header of its parent/);
  const empty = decodeBlock(encodeBlock(second.header, [], scheme), scheme);
  await t.rejects(takes(empty, [first]), /signature/i);
  const link = encodeLink(second.header, scheme);
  t.notOk(decodeLink(link, scheme).bound!.justification.length);
  await sameElsewhere(t, at);
});

t.test('a justification moves the source of votes', async (t) => {
  const at = await chainWith();
  await mine(at);
  t.equal(blocksOf(at).source(2).height, 1, 'the root');
  await mineCarrying(at, justificationOf(at, 2));
  t.strictSame(blocksOf(at).source(3), blocksOf(at).checkpoint(2));
  await mineCarrying(at, justificationOf(at, 3));
  t.strictSame(blocksOf(at).source(4), blocksOf(at).checkpoint(3));
  await mineCarrying(at, NOTHING);
  t.strictSame(blocksOf(at).source(5), blocksOf(at).checkpoint(3), 'nothing carried');
  await sameElsewhere(t, at);
});

t.test('what no block may carry', async (t) => {
  const at = await chainWith();
  const blocks = [await mine(at), await mineCarrying(at, NOTHING)];
  blocks.push(await mineCarrying(at, justificationOf(at, 2)));
  const good = justificationOf(at, 3);
  const next = await mineCarrying(at, good);
  await takes(next, blocks);
  const refuses = async (justification: Uint8Array, why: RegExp): Promise<void> => {
    const bound = { ...next.header.bound!, justification };
    await t.rejects(takes(remade(next, makerOf(next), { bound }), blocks), why);
  };
  const { target } = linkTo(at, 3).vote;
  await refuses(justificationOf(at, 2), /not above that of the chain/);
  await refuses(justificationOf(at, 3, miners.slice(1)), /lacks votes/);
  await refuses(
    justificationOf(at, 3, miners, { ruleHash: new Uint8Array(32) }),
    /wrong signature/,
  );
  await refuses(
    justificationOf(at, 3, miners, { target: { ...target, id: new Uint8Array(32) } }),
    /of a block of another chain/,
  );
  await refuses(justificationOf(at, 5), /of a block of another chain/);
  await refuses(good.subarray(1), /damaged justification/);
  const wrong = good.slice();
  wrong[wrong.length - 1] = wrong.at(-1)! ^ 1;
  await refuses(wrong, /wrong signature/);
});

const rolesOf = (opType: 'add' | 'remove', target: Account, timestamp: number) =>
  signed(
    permit,
    miners[0]!,
    {
      target: { kind: 'address', bytes: target.address },
      timestamp,
      fee: 1_000_000n,
      opType,
      role: 'miner',
    },
    1,
  );

const votersAfter = ({ blockchain }: TestChain, height = blockchain.tip().height) => {
  const { change, current, next } = leavesAt(blockchain.view, height)!;
  return { change, current: current.keys.length, next: next?.voters.keys.length };
};

t.test('a miner that leaves begins a change, which a final block completes', async (t) => {
  const at = await chainWith();
  t.strictSame(votersAfter(at), { change: 0, current: 3, next: undefined });
  await mine(at);
  const leaving = miners[2]!;
  await mineCarrying(at, NOTHING, [rolesOf('remove', leaving, nextTurn(at).time - 5)]);
  t.strictSame(votersAfter(at), { change: 0, current: 3, next: 2 });
  t.equal(leavesAt(at.blockchain.view, 3)?.next?.since, 3);
  await mineCarrying(at, NOTHING);
  // The link to block 4 is direct once block 3 is carried, and makes it final: the change is complete.
  await mineCarrying(at, justificationOf(at, 3));
  t.equal(votersAfter(at).next, 2, 'block 3 is not final by this');
  await mineCarrying(at, justificationOf(at, 5));
  t.equal(votersAfter(at).next, 2, 'no direct link');
  await mineCarrying(at, justificationOf(at, 6));
  t.strictSame(votersAfter(at), { change: 1, current: 2, next: undefined });
  await mineCarrying(at, justificationOf(at, 7, [...miners]));
  t.strictSame(votersAfter(at), { change: 1, current: 2, next: undefined });
  await sameElsewhere(t, at);
});

t.test('who is given the role votes from its first block on', async (t) => {
  const at = await chainWith();
  await mineCarrying(at, NOTHING, [rolesOf('add', users[0], nextTurn(at).time - 5)]);
  t.equal(votersAfter(at).next, undefined, 'it has made no block');
  await sameElsewhere(t, at);
});

t.test('a feature that was voted in has its root at the approval', async (t) => {
  const voted = { ...rules, featureCheckBlocks: 4, featureApprovalVotes: 3 };
  const at = await newChain(undefined, voted);
  const votes = async (): Promise<Block> => {
    const { miner, time } = nextTurn(at);
    at.clock.time = time;
    const plain = await makeBlock(at.blockchain, miner, time, async () => {});
    await at.blockchain.rollback(at.blockchain.tip().height - 1);
    const block = remade(plain, miner, { features: [feature.finality] });
    await at.blockchain.append(fresh(block));
    return block;
  };
  for (let height = 2; height <= 4; height++) await votes();
  t.equal(rootHeight(at.blockchain.view, voted), 4);
  t.strictSame(votersAfter(at), { change: 0, current: 3, next: undefined });
  t.equal(leavesAt(at.blockchain.view, 3), undefined);
  for (let height = 5; height <= 7; height++) t.equal((await mine(at)).header.version, 3);
  t.equal((await mine(at)).header.version, 100, 'one window later');
  t.equal(blocksOf(at, voted).source(8).height, 4);
  await mineCarrying(at, justificationOf(at, 8, miners, {}, voted));
  t.strictSame(blocksOf(at, voted).source(9), blocksOf(at, voted).checkpoint(8));
});
