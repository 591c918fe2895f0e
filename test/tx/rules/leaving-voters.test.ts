// A voter stays a participant until it decides on no block any more (finality.md#voters).
import t from 'tap';
import { leavesAt } from '../../../src/chain/finality/finality-state.ts';
import { feature } from '../../../src/tx/rules/features.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { registerNode } from '../../../src/tx/types/111-register-node.ts';
import {
  type Account,
  miners,
  newChain,
  nextTurn,
  signed,
  type TestChain,
} from '../../chain/chain-harness.ts';
import {
  blocksOf,
  blocksOfChain,
  chainOf,
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

t.test(
  'in the first child of a block whose voters operators name, these are the voters',
  async (t) => {
    const at = await chainWith();
    await mineCarrying(at, NOTHING, [losesItsRole(at)]);
    await mineCarrying(at, NOTHING);
    const named = (height: number, accounts: readonly Account[]) => {
      const voters = accounts.map((one) => one.publicKey);
      const block = blocksOf(at).checkpoint(height);
      const settings = { ...WITH_FINALITY, voterOverrides: [{ block, voters }] };
      return chainOf(blocksOfChain(at), settings, at.clock.time);
    };
    const other = await named(3, [miners[1]!]);
    await mineCarrying(other, NOTHING, [leaves(other)]);
    t.equal(other.blockchain.tip().height, 4, 'who is not named votes no more');
    // The change that leaves it out is complete, and operators name it again.
    await mineCarrying(at, justificationOf(at, 2));
    await mineCarrying(at, justificationOf(at, 4));
    await mineCarrying(at, justificationOf(at, 5));
    t.equal(leavesAt(at.blockchain.view, 6)!.current.keys.length, 2);
    const again = await named(6, [leaving, miners[0]!]);
    const refusal = /votes on blocks: take its role/;
    await t.rejects(mineCarrying(again, NOTHING, [leaves(again)]), refusal, 'a voter by the entry');
  },
);

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
