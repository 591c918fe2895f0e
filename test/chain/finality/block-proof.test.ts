// Offline proofs of the blocks of a stored chain (finality.md#proofs), as a node answers and a command checks them.
import t from 'tap';
import { proofOfBlock } from '../../../src/chain/finality/block-proof.ts';
import { finalProofWrite } from '../../../src/chain/finality/final-floor.ts';
import { leavesAt, rootHeight } from '../../../src/chain/finality/finality-state.ts';
import { trustedGenesis } from '../../../src/chain/finality/genesis-voters.ts';
import { base64 } from '../../../src/codec/text.ts';
import { encodeFinalProof } from '../../../src/finality/proofs/final-proof.ts';
import { decodeJustification } from '../../../src/finality/proofs/justification.ts';
import {
  type TrustedCheckpoint,
  verifyOffline,
} from '../../../src/finality/proofs/offline-proof.ts';
import { proofFromJson, stepsToJson } from '../../../src/finality/proofs/offline-proof-json.ts';
import { decidingOn } from '../../../src/finality/votes/voter-set.ts';
import { feature } from '../../../src/tx/rules/features.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { genesis, miners, scheme, signed, type TestChain } from '../chain-harness.ts';
import {
  blocksOf,
  chainWith,
  justificationOf,
  linkTo,
  mineCarrying,
  WITH_FINALITY,
} from '../finality-harness.ts';

const NOTHING = new Uint8Array(0);
const HEIGHT = 12;

/** Each block from 3 on carries the votes for its parent; block 5 takes a role from the third miner. */
async function fresh(): Promise<TestChain> {
  const at = await chainWith();
  await mineCarrying(at, NOTHING);
  for (let height = 3; height <= HEIGHT; height++) {
    const leaving = signed(
      permit,
      miners[0]!,
      {
        target: { kind: 'address', bytes: miners[2]!.address },
        timestamp: at.clock.time,
        fee: 1_000_000n,
        opType: 'remove',
        role: 'miner',
        dueTimestamp: undefined,
      } as never,
      1,
    );
    await mineCarrying(at, justificationOf(at, height - 1), height === 5 ? [leaving] : []);
  }
  return at;
}

const proofAt = (at: TestChain, height: number, from?: number) => {
  const proof = proofOfBlock(at.blockchain.view, WITH_FINALITY, height, from);
  return { ...proof, headers: [...proof.headers] };
};

function trusted(at: TestChain, height: number): TrustedCheckpoint {
  const { ruleHash } = decidingOn(leavesAt(at.blockchain.view, height)!, scheme);
  return { genesis: blocksOf(at).checkpoint(1).id, height, ruleHash };
}

t.test('each block, from the genesis block or one above it, through a change', async (t) => {
  const at = await fresh();
  const { view } = at.blockchain;
  t.equal(leavesAt(view, HEIGHT)?.change, 1, 'the change is complete');
  t.equal(leavesAt(view, HEIGHT)?.current.keys.length, 2);
  t.strictSame(trustedGenesis(genesis, scheme), trusted(at, 1), 'known from the genesis block');
  const highest = HEIGHT - 2;
  for (let from = 1; from <= highest; from++) {
    for (let height = 1; height <= highest; height++) {
      const proof = proofAt(at, height, from);
      const verdict = verifyOffline(proof, trusted(at, from), scheme);
      const { id } = blocksOf(at).checkpoint(height);
      t.match(verdict, { isProved: true, block: { height, id } }, `${height} from ${from}`);
      t.equal(proof.final, Math.max(height, from));
    }
  }
  t.equal(proofAt(at, highest).steps.length, 2);
  t.equal(proofAt(at, highest, highest).steps.length, 1);
  const other = verifyOffline(proofAt(at, 9, 9), trusted(at, 1), scheme);
  t.match(other, { isProved: false }, 'one that begins above a change that is not known');
});

t.test('the stored proof serves where no block carries one', async (t) => {
  const at = await fresh();
  t.throws(() => proofAt(at, HEIGHT - 1), /No block at or above height 11 is final/);
  const { vote: link } = linkTo(at, HEIGHT);
  const justification = decodeJustification(justificationOf(at, HEIGHT), scheme);
  await at.store.write([finalProofWrite(encodeFinalProof({ link, justification }, scheme))]);
  const proof = proofAt(at, HEIGHT - 1);
  t.equal(proof.final, HEIGHT - 1);
  t.match(verifyOffline(proof, trusted(at, 1), scheme), { isProved: true });
  t.throws(() => proofAt(at, HEIGHT), /is final/);
  const without = await chainWith({ ...WITH_FINALITY, preActivatedFeatures: new Map() });
  const { view } = without.blockchain;
  const rules = { ...WITH_FINALITY, preActivatedFeatures: new Map() };
  t.throws(() => proofOfBlock(view, rules, 1), /Nobody votes/);
});

t.test('a proof that would be too long is refused', async (t) => {
  const at = await fresh();
  const { view } = at.blockchain;
  const within = (height: number, from: number, headers: number, steps: number) =>
    proofOfBlock(view, WITH_FINALITY, height, from, { steps, headers });
  t.equal(within(5, 8, 4, 32).final, 8);
  t.throws(() => within(5, 8, 3, 32), /the next final block is 3 blocks above/);
  t.equal(within(10, 1, 4, 2).steps.length, 2);
  t.throws(() => within(10, 1, 4, 1), /the voters have changed 1 times since height 1/);
});

t.test('a block that carries what makes nothing final is passed over', async (t) => {
  const at = await chainWith();
  await mineCarrying(at, NOTHING);
  await mineCarrying(at, NOTHING);
  await mineCarrying(at, justificationOf(at, 3));
  await mineCarrying(at, justificationOf(at, 4));
  const proof = proofAt(at, 1);
  t.equal(proof.final, 3);
  t.match(verifyOffline(proof, trusted(at, 1), scheme), { isProved: true, block: { height: 1 } });
});

t.test('blocks that are older than the feature have none', async (t) => {
  const settings: typeof WITH_FINALITY = {
    ...WITH_FINALITY,
    featureCheckBlocks: 4,
    preActivatedFeatures: new Map([...WITH_FINALITY.preActivatedFeatures, [feature.finality, 9]]),
  };
  const at = await chainWith(settings);
  while (at.blockchain.tip().height < 9) await mineCarrying(at, NOTHING);
  for (let height = 10; height <= HEIGHT; height++) {
    await mineCarrying(at, justificationOf(at, height - 1, miners, {}, settings));
  }
  const { view } = at.blockchain;
  const root = rootHeight(view, settings)!;
  t.equal(root, 5);
  const { ruleHash } = decidingOn(leavesAt(view, root)!, scheme);
  const trust = { genesis: blocksOf(at, settings).checkpoint(1).id, height: root, ruleHash };
  for (let height = 1; height <= 10; height++) {
    const proven = () => proofOfBlock(view, settings, height);
    if (height < 8) {
      t.throws(proven, /Blocks below height 8 have no proof/, `${height}`);
      continue;
    }
    const proof = proven();
    const verdict = verifyOffline({ ...proof, headers: [...proof.headers] }, trust, scheme);
    t.match(verdict, { isProved: true, block: { height } }, `${height}`);
  }
});

t.test('as JSON', async (t) => {
  const at = await fresh();
  const { steps, headers } = proofAt(at, 8);
  const json = JSON.parse(
    JSON.stringify({
      height: 8,
      steps: stepsToJson(steps, scheme),
      headers: headers.map((bytes) => base64.encode(bytes)),
    }),
  );
  const verdict = verifyOffline(proofFromJson(json, scheme), trusted(at, 1), scheme);
  t.match(verdict, { isProved: true, block: { height: 8 } });
  for (const wrong of [
    undefined,
    null,
    [],
    {},
    { ...json, steps: {} },
    { ...json, headers: [1] },
    { ...json, headers: ['!'] },
    { ...json, steps: [{ ...json.steps[0], sets: json.steps[0].proof }] },
    { ...json, steps: [{ sets: json.steps[0].sets }] },
  ]) {
    t.throws(() => proofFromJson(wrong, scheme), { name: 'CodecError' });
  }
  t.throws(() => proofFromJson({ ...json, headers: [1] }, scheme), /are a text in Base64/);
});
