// What a block may carry (finality.md#votes): each reason for which its justification makes it invalid.
import t, { type Test } from 'tap';
import { Refusal } from '../../src/base/errors.ts';
import type { SignatureCheck, Verifier } from '../../src/base/ports/verifier.ts';
import { voteFor } from '../../src/finality/carried.ts';
import type { Justification } from '../../src/finality/proofs/justification.ts';
import { rules } from '../../src/finality/rules.ts';
import type { TrackedBlock } from '../../src/finality/tracked-block.ts';
import { decidingOn } from '../../src/finality/votes/voter-set.ts';
import { childOf } from './child-of.ts';
import { judgeCarried } from './judge-carried.ts';
import { setOf } from './network/toy-chain.ts';
import { ToyEngine, voteOf } from './toy-engine.ts';
import { scheme } from './vectors.ts';

const four = setOf(1, 2, 3, 4);
const others = setOf(1, 5, 6, 7);

function fresh() {
  const toy = new ToyEngine(four);
  let checks = 0;
  const verify = async (items: readonly SignatureCheck[]) => {
    checks += items.length;
    return items.map((one) => scheme.verify(one.publicKey, one.message, one.signature));
  };
  const verifier: Verifier = {
    verify,
    verifyOne: async (...one) => scheme.verify(...one),
    close: async () => {},
  };
  const ports = { blocks: toy.index, genesis: toy.root.id, scheme, rules, verifier };
  /** With the signatures of these accounts, as far as they decide on the block. */
  function votesOf(block: TrackedBlock, ...names: readonly number[]): Justification {
    const { keys } = decidingOn(block.deciding, scheme).members;
    const votes = names.map((name) => voteOf(name, block, toy.root));
    const signatures = keys.map(
      (key) => votes.find(({ voter }) => Buffer.compare(voter, key) === 0)?.signature,
    );
    return { target: block.checkpoint, votes: signatures };
  }
  const judge = (value: Justification, parent: TrackedBlock) => judgeCarried(value, parent, ports);
  async function refused(t: Test, value: Justification, parent: TrackedBlock, why: RegExp) {
    const before = checks;
    const error: unknown = await judge(value, parent).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    t.ok(error instanceof Refusal, why.source);
    t.match(error, { entry: 'Invalid', message: why });
    return checks - before;
  }
  return { toy, judge, votesOf, refused };
}

t.test('a quorum for the parent, or for a block below it', async (t) => {
  const { toy, judge, votesOf } = fresh();
  const a = toy.block(toy.root);
  const b = toy.block(a);
  const [low, high] = [toy.tracked(a), toy.tracked(b)];
  await t.resolves(judge(votesOf(low, 1, 2, 3), low));
  await t.resolves(judge(votesOf(low, 1, 2, 3, 4), high));
  await t.resolves(judge(votesOf(high, 2, 3, 4), high));
});

t.test('it is above the source of the parent', async (t) => {
  const { toy, votesOf, refused } = fresh();
  const a = toy.follow(toy.block(toy.root));
  await toy.votes(a, 1, 2, 3);
  const b = toy.tracked(toy.block(a));
  t.equal(b.source.height, 2);
  const again = votesOf(toy.tracked(a), 1, 2, 3);
  t.equal(await refused(t, again, b, /not above/), 0, 'no signature is checked');
  const target = { height: 1, id: toy.root.id };
  await refused(t, { ...again, target }, b, /not above/);
});

t.test('it is of a block in the chain of the parent', async (t) => {
  const { toy, votesOf, refused } = fresh();
  const first = toy.block(toy.root);
  const [a, above] = [toy.tracked(first), toy.tracked(toy.block(first))];
  const sibling = toy.tracked(toy.block(toy.root));
  const good = votesOf(a, 1, 2, 3);
  const why = /another chain/;
  t.equal(await refused(t, good, sibling, why), 0);
  t.equal(await refused(t, votesOf(above, 1, 2, 3), a, why), 0, 'above the parent');
  const nowhere = { height: 2, id: new Uint8Array(32) };
  await refused(t, { ...good, target: nowhere }, a, why);
  await refused(t, { ...good, target: { height: 1, id: a.checkpoint.id } }, a, /not above/);
});

t.test('it has a place for each voter, and a quorum of them', async (t) => {
  const { toy, votesOf, refused } = fresh();
  const a = toy.tracked(toy.block(toy.root));
  const good = votesOf(a, 1, 2, 3, 4);
  const { votes } = good;
  const other = /of other voters/;
  t.equal(await refused(t, { ...good, votes: votes.slice(1) }, a, other), 0);
  t.equal(await refused(t, { ...good, votes: [...votes, votes[0]] }, a, other), 0);
  t.equal(await refused(t, { ...good, votes: [] }, a, other), 0);
  t.equal(await refused(t, votesOf(a, 1, 2), a, /lacks votes/), 0);
  t.equal(await refused(t, votesOf(a), a, /lacks votes/), 0);
});

t.test('every signature is good, more than a quorum too', async (t) => {
  const { toy, votesOf, refused } = fresh();
  const a = toy.tracked(toy.block(toy.root));
  const { target, votes } = votesOf(a, 1, 2, 3, 4);
  const why = /wrong signature/;
  for (let i = 0; i < 4; i++) {
    const wrong = votes.map((vote, k) => (k === i ? new Uint8Array(64) : vote));
    t.equal(await refused(t, { target, votes: wrong }, a, why), 4);
  }
  const swapped = [votes[1], votes[0], votes[2], votes[3]];
  await refused(t, { target, votes: swapped }, a, why);
  const repeated = votes.map(() => votes[0]);
  await refused(t, { target, votes: repeated }, a, why);
});

t.test('what was signed follows from the chain', async (t) => {
  const { toy, votesOf, refused } = fresh();
  const a = toy.tracked(toy.block(toy.root));
  const { keys } = four;
  const signed = (changed: Parameters<typeof voteOf>[3]) => {
    const votes = [1, 2, 3].map((name) => voteOf(name, a, toy.root, changed));
    const of = (key: Uint8Array) => votes.find(({ voter }) => Buffer.compare(voter, key) === 0);
    return { target: a.checkpoint, votes: keys.map((key) => of(key)?.signature) };
  };
  const why = /wrong signature/;
  await refused(t, signed({ genesis: a.checkpoint.id }), a, why);
  await refused(t, signed({ ruleHash: new Uint8Array(32) }), a, why);
  await refused(t, signed({ source: { height: 1, id: a.checkpoint.id } }), a, why);
  await refused(t, signed({ target: { height: 3, id: a.checkpoint.id } }), a, why);
  t.strictSame(voteFor(a, decidingOn(a.deciding, scheme), toy.root.id).target, a.checkpoint);
  t.equal(votesOf(a, 1, 2, 3).votes.filter((vote) => vote !== undefined).length, 3);
});

t.test('during a change each of both sets gives a quorum', async (t) => {
  const { toy, judge, votesOf, refused } = fresh();
  const a = toy.block(toy.root, others);
  const began = toy.tracked(a);
  t.strictSame(began.leaves.next, { voters: others, since: 2 });
  await t.resolves(judge(votesOf(began, 2, 3, 4), began), 'decided as before it');
  const b = toy.tracked(toy.block(a));
  await refused(t, votesOf(b, 1, 2, 3, 4), b, /lacks votes/);
  await refused(t, votesOf(b, 1, 5, 6, 7), b, /lacks votes/);
  await refused(t, votesOf(b, 1, 2, 3, 5), b, /lacks votes/);
  await t.resolves(judge(votesOf(b, 1, 2, 3, 5, 6), b), 'a vote of 1 counts in both');
});

t.test('a change is complete once a block at its beginning or above is proved final', async (t) => {
  const { toy } = fresh();
  const a = toy.follow(toy.block(toy.root));
  await toy.votes(a, 1, 2, 3);
  const b = toy.follow(toy.block(a, others));
  t.equal(toy.tracked(b).leaves.next?.since, 3);
  await toy.votes(b, 1, 2, 3);
  const c = toy.follow(toy.block(b));
  t.strictSame(toy.tracked(c).source, toy.tracked(b).checkpoint);
  t.equal(toy.tracked(c).leaves.change, 0, 'that proves block 2, below the beginning');
  await toy.votes(c, 1, 2, 3, 5, 6);
  const d = toy.tracked(toy.follow(toy.block(c)));
  t.equal(d.deciding.change, 0);
  t.strictSame(d.leaves, { change: 1, current: others, next: undefined });
  const far = childOf(
    toy.tracked(b),
    {
      checkpoint: { height: 4, id: new Uint8Array(32) },
      timestamp: 1,
      score: 1n,
      entitled: four,
      carried: undefined,
    },
    toy.index,
  );
  t.equal(far.leaves, toy.tracked(b).leaves, 'without a proof it goes on, whoever is entitled');
});
