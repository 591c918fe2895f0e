// A voter stays a participant until it decides on no block any more (finality.md#voters).
import t from 'tap';
import { leavesAt } from '../../../src/chain/finality/finality-state.ts';
import { feature } from '../../../src/tx/rules/features.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { registerNode } from '../../../src/tx/types/111-register-node.ts';
import { miners, newChain, nextTurn, signed, type TestChain } from '../../chain/chain-harness.ts';
import {
  chainWith,
  justificationOf,
  mineCarrying,
  WITH_FINALITY,
} from '../../chain/finality-harness.ts';

const NOTHING = new Uint8Array(0);
const leaving = miners[2]!;

const leaves = (at: TestChain) =>
  signed(
    registerNode,
    miners[0]!,
    {
      targetPubKey: leaving.publicKey,
      nodeName: '',
      opType: 'remove',
      timestamp: nextTurn(at).time - 4,
      fee: 1_000_000n,
    },
    1,
  );

const losesItsRole = (at: TestChain) =>
  signed(
    permit,
    miners[0]!,
    {
      target: { kind: 'address', bytes: leaving.address },
      timestamp: nextTurn(at).time - 5,
      fee: 1_000_000n,
      opType: 'remove',
      role: 'miner',
    },
    1,
  );

t.test('its removal waits for the end of the change that leaves it out', async (t) => {
  const at = await chainWith();
  const refuses = (why: string) =>
    t.rejects(mineCarrying(at, NOTHING, [leaves(at)]), /votes on blocks: take its role/, why);
  await refuses('a voter');
  await mineCarrying(at, NOTHING, [losesItsRole(at)]);
  t.ok(leavesAt(at.blockchain.view, 2)!.next, 'the change goes on');
  await refuses('the change is not complete');
  await mineCarrying(at, NOTHING);
  await mineCarrying(at, justificationOf(at, 2));
  await mineCarrying(at, justificationOf(at, 4));
  await mineCarrying(at, justificationOf(at, 5));
  t.equal(leavesAt(at.blockchain.view, at.blockchain.tip().height)!.next, undefined);
  await mineCarrying(at, NOTHING, [leaves(at)]);
});

t.test('in a chain that has finality without the rule, a voter may be removed', async (t) => {
  const { preActivatedFeatures } = WITH_FINALITY;
  const features = [...preActivatedFeatures].filter(([id]) => id !== feature.votersStay);
  const at = await chainWith({ ...WITH_FINALITY, preActivatedFeatures: new Map(features) });
  await mineCarrying(at, NOTHING, [leaves(at)]);
  t.equal(at.blockchain.tip().height, 2);
});

t.test('without the feature nobody votes', async (t) => {
  const at = await newChain();
  await mineCarrying(at, NOTHING, [leaves(at)]);
  t.equal(at.blockchain.tip().height, 2);
});
