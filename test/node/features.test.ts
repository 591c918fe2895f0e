/**
 * Votes for features on whole nodes: approval, activation, and features that this release does not
 * implement.
 */

import t from 'tap';
import { type Block, sealBlock } from '../../src/block/block.ts';
import { activationStatus } from '../../src/chain/features/feature-activation.ts';
import { UnsupportedFeatures } from '../../src/chain/features/feature-watch.ts';
import { blockAt, headerRowAt } from '../../src/chain/store/stored-blocks.ts';
import { presetFeatures } from '../../src/tx/rules/features.ts';
import { seededRandom } from '../crypto/random.ts';
import type { Scope } from '../system/e2e/process.ts';
import { ROUND_MS, type WholeNode, wholeNode } from './in-process.ts';

const WINDOW = 4;
const VOTES = 3;
/** One that some later release may bring. */
const UNKNOWN = 999;
const KNOWN = 120;

const WINDOWS = [
  'miner.enable=no',
  `blockchain.custom.functionality.feature-check-blocks-period=${WINDOW}`,
  `blockchain.custom.functionality.blocks-for-feature-activation=${VOTES}`,
];

const network = (t: Scope, set: readonly string[] = []) =>
  // As a network that was founded with the defaults.
  wholeNode(t, { set: [...WINDOWS, ...set], features: presetFeatures });

/** The next block with these votes, as its owner's node of another release would make it. */
async function blockWith(whole: WholeNode, features: readonly number[]): Promise<Block> {
  const { node, clock, scheme, family, accounts } = whole;
  await clock.advance(ROUND_MS);
  const [owner] = accounts;
  const { header } = node.blockchain.tip();
  const start = headerRowAt(node.blockchain.view, 1)!.header.timestamp;
  const roundOf = (time: number): number => Math.floor((time - start) / ROUND_MS);
  const lost = roundOf(clock.now()) - roundOf(header.timestamp) - 1;
  const before = header.consensus.kind === 'poa' ? header.consensus.skippedRounds : 0;
  const random = seededRandom(`block at ${clock.now()}`);
  return sealBlock(
    {
      version: 3,
      timestamp: clock.now(),
      reference: node.blockchain.tip().id,
      consensus: { kind: 'poa', skippedRounds: before + lost },
      generator: owner.publicKey,
      features,
    },
    [],
    scheme,
    (message) => family.sign(owner.privateKey, message, random),
  );
}

/** Blocks up to `height`, each with these votes. */
async function vote(whole: WholeNode, height: number, features: readonly number[]): Promise<void> {
  const { blockchain } = whole.node;
  while (blockchain.tip().height < height) {
    await blockchain.append(await blockWith(whole, features));
  }
}

function activation({ node: { services } }: WholeNode) {
  const { view, height, rules, features } = services;
  return activationStatus(view, height(), rules, features);
}

const statusOf = (whole: WholeNode, id: number) =>
  activation(whole).features.find((feature) => feature.id === id);

t.test('scenario 112: one vote too few, then enough, then active', async (t) => {
  const whole = await network(t);
  await vote(whole, 2, []);
  await vote(whole, 4, [KNOWN]);
  t.match(statusOf(whole, KNOWN), { blockchainStatus: 'VOTING', supportingBlocks: VOTES - 1 });
  await vote(whole, 5, []);
  t.match(statusOf(whole, KNOWN), { blockchainStatus: 'VOTING', supportingBlocks: 0 });
  await vote(whole, 7, [KNOWN]);
  t.match(statusOf(whole, KNOWN), { blockchainStatus: 'VOTING', supportingBlocks: 2 });
  t.match(activation(whole), {
    height: 7,
    votingInterval: WINDOW,
    votingThreshold: VOTES,
    nextCheck: 8,
  });
  await vote(whole, 8, [KNOWN]);
  t.match(statusOf(whole, KNOWN), { blockchainStatus: 'APPROVED', activationHeight: 12 });
  await vote(whole, 11, []);
  t.match(statusOf(whole, KNOWN), { blockchainStatus: 'APPROVED' });
  await vote(whole, 12, []);
  t.match(statusOf(whole, KNOWN), { blockchainStatus: 'ACTIVATED', activationHeight: 12 });
  t.strictSame(whole.stops, []);
});

t.test('a node votes for what it knows until that is decided', async (t) => {
  const whole = await network(t);
  async function votes(): Promise<readonly number[]> {
    await whole.clock.advance(ROUND_MS);
    return (await whole.produceBlock()).header.features;
  }
  const first = await votes();
  t.ok(first.includes(KNOWN));
  for (let height = 3; height <= WINDOW; height++) t.strictSame(await votes(), first);
  t.match(statusOf(whole, KNOWN), { blockchainStatus: 'APPROVED', activationHeight: 8 });
  t.strictSame(await votes(), [], 'everything is decided');

  const silent = await network(t, [
    'features.auto-support-implemented-features=no',
    `features.supported=[${UNKNOWN},${KNOWN}]`,
  ]);
  await silent.clock.advance(ROUND_MS);
  t.strictSame((await silent.produceBlock()).header.features, [KNOWN]);
  t.match(statusOf(silent, KNOWN), { nodeStatus: 'VOTED' });
});

t.test('a transaction waits for its feature', async (t) => {
  const whole = await network(t);
  const [owner] = whole.accounts;
  const policy = () =>
    whole.make(owner, {
      type: 112,
      version: 2,
      policyName: 'papers',
      description: '',
      recipients: [owner.text],
      owners: [owner.text],
    });
  await vote(whole, 4, [KNOWN]);
  await vote(whole, 6, []);
  t.match(await whole.refusal(policy()), {
    code: 112,
    message:
      `Blockchain feature 'Sponsored fees support' (id: '${KNOWN}') ` +
      'has not been activated yet, but is required for CreatePolicyTransaction',
  });
  // The block at height 8 is the first under the new rules, so the pool takes it before.
  await vote(whole, 7, []);
  await whole.node.pool.submit(policy());
  await whole.clock.advance(ROUND_MS);
  t.equal((await whole.produceBlock()).transactions.length, 1);
});

t.test('scenario 112: an unknown feature stops the node when it becomes active', async (t) => {
  const whole = await network(t);
  const { blockchain } = whole.node;
  await vote(whole, 4, [UNKNOWN]);
  t.match(statusOf(whole, UNKNOWN), {
    description: 'Unknown feature',
    blockchainStatus: 'APPROVED',
    nodeStatus: 'NOT_IMPLEMENTED',
    activationHeight: 8,
  });
  t.strictSame(whole.log.of('feature.unknown-approved'), [{ feature: UNKNOWN, height: 8 }]);
  await vote(whole, 6, []);
  t.strictSame(whole.stops, []);
  await vote(whole, 7, []);
  t.equal(whole.stops.length, 1);
  t.ok(whole.stops[0] instanceof UnsupportedFeatures);
  t.match(whole.stops[0], { message: `Features unknown to this node are active: ${UNKNOWN}` });
  t.equal(whole.log.of('feature.unknown-active').length, 1);

  const dump = whole.store.dump();
  await t.rejects(blockchain.append(await blockWith(whole, [])), {
    code: 199,
    message: /unknown to this node/,
  });
  await t.rejects(whole.produceBlock(), { message: /unknown to this node/ });
  t.strictSame(whole.store.dump(), dump, 'blocks are refused');
  await t.rejects(whole.restart(), { name: 'UnsupportedFeatures' }, 'it does not even start');
});

t.test('scenario 112: without the shutdown there are warnings', async (t) => {
  const whole = await network(t, ['features.auto-shutdown-on-unsupported-feature=no']);
  await vote(whole, 4, [UNKNOWN]);
  await vote(whole, 10, []);
  t.match(statusOf(whole, UNKNOWN), { blockchainStatus: 'ACTIVATED' });
  t.strictSame(whole.stops, []);
  t.equal(whole.log.of('feature.unknown-approved').length, 1, 'once for all blocks');
  t.equal(whole.log.of('feature.unknown-active').length, 1);
});

t.test('scenario 48: a rollback across the approval, and votes anew', async (t) => {
  const [whole, other] = await Promise.all([network(t), network(t)]);
  await vote(whole, 3, [KNOWN]);
  const before = whole.store.dump();
  await vote(whole, 6, [KNOWN]);
  t.match(statusOf(whole, KNOWN), { blockchainStatus: 'APPROVED' });
  await whole.node.blockchain.rollback(3);
  t.strictSame(whole.store.dump(), before);
  t.match(statusOf(whole, KNOWN), { blockchainStatus: 'VOTING', supportingBlocks: 2 });
  await vote(whole, 5, []);
  t.match(statusOf(whole, KNOWN), { blockchainStatus: 'VOTING', supportingBlocks: 0 });
  await vote(whole, 8, [KNOWN]);
  t.match(statusOf(whole, KNOWN), { blockchainStatus: 'APPROVED', activationHeight: 12 });
  // A node that saw only the blocks that stayed.
  await other.clock.advanceTo(whole.clock.now());
  const { view } = whole.node.blockchain;
  for (let height = 2; height <= 8; height++) {
    await other.node.blockchain.append(blockAt(view, height)!);
  }
  t.strictSame(other.store.dump(), whole.store.dump());
});

t.test('a rollback takes back what an unknown feature threatened', async (t) => {
  const whole = await network(t);
  await vote(whole, 4, [UNKNOWN]);
  await whole.node.blockchain.rollback(3);
  await vote(whole, 9, []);
  t.match(statusOf(whole, UNKNOWN), undefined);
  t.strictSame(whole.stops, []);
});
