// The chain says which keys have voted (finality.md#notes).
import t from 'tap';
import { lastCarriedVote } from '../../../src/chain/finality/carried-votes.ts';
import { miners, newChain, users } from '../chain-harness.ts';
import { chainWith, justificationOf, mineCarrying } from '../finality-harness.ts';

const NOTHING = new Uint8Array(0);

t.test('the highest block for which a carried vote of a key speaks', async (t) => {
  const at = await chainWith();
  await mineCarrying(at, NOTHING);
  const of = ({ publicKey }: { readonly publicKey: Uint8Array }) =>
    lastCarriedVote(at.blockchain.view, publicKey);
  t.equal(of(miners[0]!), undefined);
  for (const height of [2, 3]) await mineCarrying(at, justificationOf(at, height));
  await mineCarrying(at, NOTHING);
  for (const one of miners) t.equal(of(one), 3);
  t.equal(of(users[0]), undefined, 'it is no voter');
});

t.test('in a chain without the feature there is none', async (t) => {
  const at = await newChain();
  await mineCarrying(at, NOTHING);
  t.equal(lastCarriedVote(at.blockchain.view, miners[0]!.publicKey), undefined);
});
