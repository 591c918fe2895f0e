// Two final blocks that contradict each other (finality.md#contradictions): more than a third has lied.
import t from 'tap';
import { latin1 } from '../../src/base/bytes.ts';
import { encodeFinalProof } from '../../src/finality/proofs/final-proof.ts';
import type { SignedVote } from '../../src/finality/votes/vote.ts';
import type { VoterSet } from '../../src/finality/votes/voter-set.ts';
import { setOf, type ToyBlock } from './network/toy-chain.ts';
import { ToyEngine, voteOf } from './toy-engine.ts';
import { scheme } from './vectors.ts';

const four = setOf(1, 2, 3, 4);

/** Of the parent of this block, whose source it is, by these accounts. */
function proofOf(
  toy: ToyEngine,
  child: ToyBlock,
  names: readonly number[],
  { keys }: VoterSet = four,
  changed: Partial<SignedVote> = {},
) {
  const votes = names.map((name) => voteOf(name, toy.tracked(child), toy.root, changed));
  const [link] = votes;
  const by = keys.map((key) => votes.find(({ voter }) => latin1(voter) === latin1(key))?.signature);
  return encodeFinalProof(
    { link: link!, justification: { target: link!.target, votes: by } },
    scheme,
  );
}

/** An engine with a final block at height 2, and one that shows the proof of another to it. */
async function twoFinal() {
  const liars = new ToyEngine(four);
  const toy = new ToyEngine(four, 2, 0, liars.root);
  const at = async (of: ToyEngine): Promise<readonly [ToyBlock, ToyBlock]> => {
    const a = of.follow(of.block(of.root));
    await of.votes(a, 1, 2, 3);
    return [a, of.follow(of.block(a))];
  };
  const [other, otherChild] = await at(liars);
  const [own, ownChild] = await at(toy);
  const show = (names: readonly number[], changed: Partial<SignedVote> = {}) =>
    toy.engine.receiveProof(proofOf(liars, otherChild, names, four, changed), toy.peer(1));
  return { liars, toy, other, otherChild, own, ownChild, show };
}

t.test('the proof of another final block at or below the own one', async (t) => {
  const { toy, other, own, ownChild, show } = await twoFinal();
  await toy.votes(ownChild, 1, 2, 4);
  t.equal(toy.engine.tracker.final.height, 2);
  await toy.engine.receiveProof(proofOf(toy, ownChild, [1, 2, 4]), toy.peer(1));
  await show([1, 2]);
  t.strictSame(toy.conflicts, [], 'the own one, and one without a quorum');
  await show([1, 2, 3]);
  t.match(toy.conflicts, [{ own: { height: 2 }, other: { link: { source: { height: 2 } } } }]);
  t.strictSame(toy.conflicts[0]!.own.id, own.id);
  t.strictSame(toy.conflicts[0]!.other.link.source.id, other.id);
  await show([1, 2, 3]);
  t.equal(toy.conflicts.length, 1, 'once');
});

t.test('the proof of another network with the same voters', async (t) => {
  const { toy, ownChild, show } = await twoFinal();
  await toy.votes(ownChild, 1, 2, 4);
  await show([1, 2, 3], { genesis: new Uint8Array(32).fill(9) });
  t.strictSame(toy.conflicts, [], 'nobody lies who votes in both');
  await show([1, 2, 3]);
  t.equal(toy.conflicts.length, 1);
});

t.test(
  'a proof with a wrong signature, also where its votes are too old to be checked',
  async (t) => {
    const { liars, toy, otherChild, ownChild } = await twoFinal();
    await toy.votes(ownChild, 1, 2, 4);
    await toy.votes(toy.follow(toy.block(ownChild)), 1, 2, 4);
    t.equal(toy.engine.tracker.final.height, 3);
    const forged = proofOf(liars, otherChild, [1, 2, 3]);
    forged[forged.length - 1]! ^= 1;
    const offence = await toy.engine.receiveProof(forged, toy.peer(1));
    t.match(offence, { message: /wrong signature/ });
    t.strictSame(toy.conflicts, []);
  },
);

t.test('a proof from above the own final block is compared once that comes so far', async (t) => {
  const { toy, ownChild, show } = await twoFinal();
  await show([1, 2, 3]);
  t.strictSame(toy.conflicts, [], 'it may be of a chain that has the own final block');
  await toy.votes(ownChild, 1, 2, 4);
  t.equal(toy.conflicts.length, 1);
});

t.test('a proof of the final block, while the head has left it for a moment', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.follow(toy.block(toy.root));
  await toy.votes(a, 1, 2, 3);
  const b = toy.block(a);
  toy.follow(toy.block(toy.root));
  await toy.votes(b, 1, 2, 3);
  t.equal(toy.engine.tracker.final.height, 2);
  await toy.engine.receiveProof(proofOf(toy, b, [1, 2, 4]), toy.peer(1));
  t.strictSame(toy.conflicts, []);
});

t.test('a proof with places for other voters than the set has is none', async (t) => {
  const { toy, liars, otherChild, ownChild } = await twoFinal();
  await toy.votes(ownChild, 1, 2, 4);
  for (const places of [3, 5]) {
    const keys = [...four.keys, four.keys[0]!].slice(0, places);
    const proof = proofOf(liars, otherChild, [1, 2, 3], { ...four, keys });
    await toy.engine.receiveProof(proof, toy.peer(1));
  }
  t.strictSame(toy.conflicts, []);
});

t.test('both branches are known', async (t) => {
  const toy = new ToyEngine(four);
  const branch = async (): Promise<ToyBlock> => {
    const a = toy.follow(toy.block(toy.root));
    await toy.votes(a, 1, 2, 3);
    return toy.block(a);
  };
  const [first, second] = [await branch(), await branch()];
  await toy.votes(first, 1, 2, 3);
  t.strictSame(toy.conflicts, []);
  await toy.votes(second, 1, 2, 3);
  t.equal(toy.conflicts.length, 1);
});
