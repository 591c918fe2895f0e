/** A branch with a false claim in its headers is refused before anything is rolled back for it. */

import t from 'tap';
import { equal } from '../../../src/base/bytes.ts';
import { type Block, sealBlock } from '../../../src/block/block.ts';
import { headerHash } from '../../../src/block/header.ts';
import { rebuild } from '../../../src/chain/store/rebuild.ts';
import { END_OF_TABLE as END, START_OF_TABLE as START } from '../../../src/ledger/key-codecs.ts';
import { feature } from '../../../src/tx/rules/features.ts';
import {
  type Account,
  consensus,
  LENGTH_MS,
  mine,
  miners,
  newChain,
  nextTurn,
  payment,
  quiet,
  remade,
  replaced,
  rules,
  scheme,
  users,
  verifier,
} from '../chain-harness.ts';
import { createTestForkChoice } from '../fork-harness.ts';
import { makeBlock } from '../make-block.ts';

const HASH = new Uint8Array(32);
const BOUND = { parentHash: HASH, bodyHash: HASH, justification: new Uint8Array(0) };

const minerOf = ({ header }: Block): Account =>
  miners.find(({ address }) => equal(address, scheme.addressOf(header.generator)))!;

/** A fork choice whose chain has another block than the branch, and the rollbacks that it makes. */
async function opened() {
  const at = await newChain();
  // It misses a turn, so that the branch is better.
  const { timestamp } = at.blockchain.tip().header;
  const late = timestamp + 2 * LENGTH_MS;
  const miner = miners.find((one) => at.blockchain.nextSlot(one, late)?.from === late)!;
  at.clock.time = late + 10;
  await makeBlock(at.blockchain, miner, at.clock.time, async () => {});
  let rollbacks = 0;
  const blockchain = replaced(at.blockchain, {
    exclusive: (act) =>
      at.blockchain.exclusive((chain) =>
        act(
          replaced(chain, {
            unwind(to) {
              rollbacks++;
              return chain.unwind(to);
            },
          }),
        ),
      ),
  });
  const fork = createTestForkChoice({ blockchain, clock: at.clock });
  return { at, fork, rollbacks: () => rollbacks };
}

/** The same blocks, each on the one before it. */
function linked(blocks: readonly Block[]): Block[] {
  const made: Block[] = [];
  for (const block of blocks) {
    const reference = made.at(-1)?.header.signature ?? block.header.reference;
    made.push(remade(block, minerOf(block), { reference }));
  }
  return made;
}

t.test('what a branch says of itself', async (t) => {
  const source = await newChain();
  const honest: Block[] = [];
  for (let i = 0; i < 4; i++) honest.push(await mine(source));
  const [first, second, ...rest] = honest as [Block, Block, ...Block[]];
  const other = miners.find((one) => one !== minerOf(first))!;
  const branches: readonly (readonly [string, readonly Block[], RegExp | undefined])[] = [
    ['the first block is out of turn', [remade(first, other, {}), second, ...rest], /valid miner/],
    [
      'a later block says that a round was skipped',
      [first, remade(second, minerOf(second), { consensus: skipped(1) }), ...rest],
      /skipped/i,
    ],
    [
      'a later block has a version that is to come',
      [first, remade(second, minerOf(second), { version: 100, bound: BOUND }), ...rest],
      /Expected block version 3/,
    ],
    ['nothing is wrong', honest, undefined],
  ];
  for (const [name, blocks, why] of branches) {
    const { at, fork, rollbacks } = await opened();
    at.clock.time = source.clock.time;
    const verdict = await fork.adopt(
      await Promise.all(linked(blocks).map((block) => fork.check(block))),
    );
    t.equal(verdict.kind, why === undefined ? 'adopted' : 'invalid', name);
    if (why !== undefined) t.match(verdict, { error: { message: why } });
    t.equal(rollbacks(), why === undefined ? 1 : 0, `${name}: what is rolled back`);
  }
});

t.test('the version that a branch must have, as far as its own votes do not decide', async (t) => {
  const voting = { ...rules, featureCheckBlocks: 4, featureApprovalVotes: 3 };
  const at = await newChain(undefined, voting);
  // Heights 2, 3 and 4 vote, so the feature is approved at 4 and active from 8 on.
  while (at.blockchain.tip().height < 5) await mine(at);
  const featuresOfBranch = at.blockchain.featuresOfBranch.bind(at.blockchain);
  const isActive = (ancestor: number, height: number) =>
    featuresOfBranch(ancestor, height)?.has(feature.scriptMetering);
  t.equal(isActive(4, 7), false);
  t.equal(isActive(4, 8), true);
  t.equal(isActive(3, 7), false);
  t.equal(isActive(3, 8), undefined, 'another block at 4 may lack the vote');
});

const skipped = (skippedRounds: number) => ({ kind: 'poa', skippedRounds }) as const;

t.test('a branch on a block that is unknown', async (t) => {
  const source = await newChain();
  await mine(source);
  const orphan = await mine(source);
  const at = await newChain();
  at.clock.time = source.clock.time;
  t.match(await createTestForkChoice(at).offer(orphan), { kind: 'unknown-parent' });
});

t.test('a fault of this node says nothing about a block', async (t) => {
  const source = await newChain();
  const { time } = nextTurn(source);
  const block = await mine(source, [payment(users[0], users[1], 1n, time)]);
  const fault = new Error('a fault of this node');
  const fails = (): never => {
    throw fault;
  };
  const at = await newChain();
  at.clock.time = source.clock.time;
  const judging = createTestForkChoice(at, { consensus: { ...consensus, verifyHeader: fails } });
  await t.rejects(judging.examine(block.header), fault, 'where the header is judged');
  const failingScheme = { value: { ...scheme, fastHash: fails } };
  const decoding = createTestForkChoice({
    blockchain: replaced(at.blockchain, {
      view: Object.create(at.blockchain.view, { scheme: failingScheme }),
    }),
    clock: at.clock,
  });
  await t.rejects(decoding.offer(block), fault, 'where a transaction is read');
  const blockchain = replaced(at.blockchain, {
    exclusive: (act) =>
      at.blockchain.exclusive((chain) => act(replaced(chain, { apply: async () => fails() }))),
  });
  const applying = createTestForkChoice({ blockchain, clock: at.clock });
  await t.rejects(applying.offer(block), fault, 'where the block is applied');
  const { store } = source;
  const rows = (table: number) => [...store.range(table, START, END, 100, false)];
  const failing = { ...verifier, verify: async () => fails() };
  await t.rejects(rebuild(at.blockchain, failing, rows, quiet), fault, 'where a chain is rebuilt');
  const rebuilt = await rebuild(at.blockchain, verifier, rows, quiet);
  t.strictSame(rebuilt, { height: 2, of: 2 }, 'the same rows without the fault');
});

t.test('a version that is to come is refused by the header alone', async (t) => {
  const at = await newChain();
  await mine(at);
  const choice = createTestForkChoice(at);
  const tip = at.blockchain.tip();
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  const { header } = await makeBlock(at.blockchain, miner, time, async () => {});
  await at.blockchain.rollback(tip.height);
  t.equal(await choice.examine(header), undefined);
  const bound = {
    parentHash: headerHash(tip.header, scheme),
    bodyHash: new Uint8Array(32),
    justification: new Uint8Array(100_000),
  };
  const early = sealBlock({ ...header, version: 100, bound }, [], scheme, miner.sign).header;
  t.match(await choice.examine(early), { message: /Expected block version 3/ });
  choice.equivocations.note(header);
  const evidence = choice.equivocations.note(early);
  t.equal(evidence?.second.bound?.justification.length, 0, 'no justification is kept');
});
