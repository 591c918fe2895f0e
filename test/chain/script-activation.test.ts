/**
 * Feature 1000 comes by vote in the middle of a chain: the old rule holds below its height and the
 * new one from there on, across restarts, imports and reorganisations. The nodes here vote in each
 * block, so heights 2 to 4 approve it, and 8 is the first height that has it.
 */
import t from 'tap';
import type { Block } from '../../src/block/block.ts';
import { activationStatus } from '../../src/chain/features/feature-activation.ts';
import type { ForkChoice } from '../../src/chain/fork/fork-choice.ts';
import { importBlocks, replayBlocks } from '../../src/chain/import/import-blocks.ts';
import { blockAt } from '../../src/chain/store/stored-blocks.ts';
import { feature } from '../../src/tx/rules/features.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { mine, newChain, type TestChain, verifier } from './chain-harness.ts';
import { follower, hostile, pay, scripted, TOO_DEAR, VOTING } from './dear-blocks.ts';
import { createTestForkChoice } from './fork-harness.ts';

const FIRST = 8;

/** The next block, with a script beyond the budget of a run. */
const dear = (at: TestChain, votes?: readonly number[]): Promise<Block> =>
  hostile(at, (time) => [pay(time, 1)], votes);
const REFUSED = { message: /account-script: The script needs more than \d+ units$/ };

const voters = (): Promise<TestChain> => scripted(VOTING, TOO_DEAR);

async function mineTo(at: TestChain, height: number): Promise<TestChain> {
  while (at.blockchain.tip().height < height) await mine(at);
  return at;
}

const statusOf = ({ blockchain }: TestChain) =>
  activationStatus(blockchain.view, blockchain.tip().height, VOTING, {
    autoSupport: true,
    supported: [],
  }).features.find(({ id }) => id === feature.scriptMetering);

const hashOf = ({ blockchain }: TestChain): string =>
  Buffer.from(blockchain.stateHash(blockchain.tip().height)!).toString('hex');

t.test('the old rule below its height, the new one from there on', async (t) => {
  const at = await mineTo(await voters(), FIRST - 2);
  t.match(statusOf(at), {
    description: 'Metering of scripts',
    blockchainStatus: 'APPROVED',
    activationHeight: FIRST,
    nodeStatus: 'IMPLEMENTED',
  });
  await at.blockchain.append(await dear(at));
  t.equal(at.blockchain.tip().height, FIRST - 1, 'valid one block before');
  const tooDear = await dear(at);
  await t.rejects(at.blockchain.append(tooDear), REFUSED);
  await mine(at);
  t.match(statusOf(at), { blockchainStatus: 'ACTIVATED', activationHeight: FIRST });
  await t.rejects(at.blockchain.append(await dear(at)), REFUSED);

  await at.blockchain.rollback(FIRST - 2);
  await at.blockchain.append(await dear(at));
  await t.rejects(at.blockchain.append(await dear(at)), REFUSED, 'again after a rollback');
});

t.test('after a restart', async (t) => {
  const store = createMemoryStore();
  const at = await mineTo(await voters(), FIRST - 1);
  await follower(at, VOTING, store);
  const again = await newChain(store, VOTING);
  again.clock.time = at.clock.time;
  await t.rejects(again.blockchain.append(await dear(again)), REFUSED);
  await again.blockchain.rollback(FIRST - 2);
  const before = await newChain(store, VOTING);
  before.clock.time = at.clock.time;
  await before.blockchain.append(await dear(before));
  t.equal(before.blockchain.tip().height, FIRST - 1);
});

t.test('in an import, where the approval is not committed yet', async (t) => {
  const at = await mineTo(await voters(), FIRST - 2);
  await at.blockchain.append(await dear(at));
  const tooDear = await dear(at);
  await mineTo(at, FIRST + 2);
  const { view } = at.blockchain;
  const blocks = Array.from({ length: FIRST + 1 }, (_, i) => blockAt(view, i + 2)!);

  const good = await newChain(undefined, VOTING);
  good.clock.time = at.clock.time;
  await importBlocks(good.blockchain, verifier, blocks, { from: 2 });
  t.equal(hashOf(good), hashOf(at));

  const upTo = [...blocks.slice(0, FIRST - 2), tooDear];
  const imports = [
    (to: TestChain) => importBlocks(to.blockchain, verifier, upTo, { from: 2 }),
    (to: TestChain) => replayBlocks(to.blockchain, upTo, { from: 2 }),
  ];
  for (const run of imports) {
    const bad = await newChain(undefined, VOTING);
    bad.clock.time = at.clock.time;
    await t.rejects(run(bad), REFUSED);
    t.equal(bad.blockchain.tip().height, FIRST - 1);
  }
});

async function adopted(choice: ForkChoice, from: TestChain, above: number) {
  const { view } = from.blockchain;
  const tip = () => from.blockchain.tip();
  const branch = [];
  for (let height = above + 1; height <= tip().height; height++) {
    branch.push(await choice.check(blockAt(view, height)!));
  }
  return choice.adopt(branch);
}

t.test('a reorganisation to a branch that has not voted, and from it', async (t) => {
  const common = await mineTo(await voters(), 3);
  const silent = await follower(common, VOTING);
  while (silent.blockchain.tip().height < FIRST + 2) {
    const { height } = silent.blockchain.tip();
    const next = height + 1 < FIRST ? hostile(silent, () => [], []) : dear(silent, []);
    await silent.blockchain.append(await next);
  }
  t.match(statusOf(silent), { blockchainStatus: 'VOTING' });

  const at = await mineTo(common, FIRST);
  await t.rejects(at.blockchain.append(await dear(at)), REFUSED);
  at.clock.time = silent.clock.time;
  t.match(await adopted(createTestForkChoice(at), silent, 3), { kind: 'adopted' });
  t.match(statusOf(at), { blockchainStatus: 'VOTING' });
  t.equal(hashOf(at), hashOf(silent));
  await at.blockchain.append(await dear(at, []));

  const voting = await mineTo(await voters(), FIRST + 4);
  silent.clock.time = voting.clock.time;
  const back = await adopted(createTestForkChoice(silent), voting, 3);
  t.match(back, { kind: 'adopted' });
  t.match(statusOf(silent), { blockchainStatus: 'ACTIVATED' });
  await t.rejects(silent.blockchain.append(await dear(silent)), REFUSED);
});

t.test('a branch that breaks the budget at its height', async (t) => {
  const at = await mineTo(await voters(), FIRST - 1);
  const tooDear = await dear(at);
  const choice = createTestForkChoice(at);
  t.match(await choice.offer(tooDear), { kind: 'invalid', error: REFUSED });
  t.ok(choice.invalid.has(tooDear.header.signature), 'and is remembered');
});
