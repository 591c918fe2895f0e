// Bounds of the votes that are kept, and the order of the checks (finality.md#spread).
import t from 'tap';
import { Evidence, isEvidence } from '../../../src/finality/votes/evidence.ts';
import { KeptVotes } from '../../../src/finality/votes/kept-votes.ts';
import {
  checkpointKey,
  type SignedVote,
  signedVoteBytes,
} from '../../../src/finality/votes/vote.ts';
import { AHEAD_MAX, UNKNOWN_MAX } from '../../../src/finality/votes/vote-pool.ts';
import {
  decodeVotes,
  encodeVotes,
  VOTES_OF_MESSAGE_MAX,
} from '../../../src/finality/votes/votes-message.ts';
import { accounts, setOf } from '../network/toy-chain.ts';
import { ToyEngine, voteOf } from '../toy-engine.ts';
import { scheme } from '../vectors.ts';

const four = setOf(1, 2, 3, 4);

function fresh() {
  const toy = new ToyEngine(four);
  const a = toy.follow(toy.block(toy.root));
  const at = (name: number, height: number, fill: number): SignedVote =>
    voteOf(name, toy.tracked(a), toy.root, {
      target: { height, id: new Uint8Array(32).fill(fill) },
    });
  return { toy, a, at, pool: toy.engine.pool };
}

t.test('reasons, in the order of the checks', async (t) => {
  const { toy, a, at, pool } = fresh();
  const good = voteOf(2, toy.tracked(a), toy.root);
  t.equal(pool.place({ ...good, genesis: a.id }), 'other-network');
  t.equal(pool.place(at(2, 1, 1)), 'final-already');
  t.equal(pool.place(voteOf(7, toy.tracked(a), toy.root)), 'no-member');
  t.strictSame(pool.place(good), { at: 'window' });
  await toy.offer(good);
  t.equal(pool.place(good), 'known');
  t.strictSame(pool.place(at(3, 2 + AHEAD_MAX, 1)), { at: 'window' });
  t.strictSame(pool.place(at(3, 3 + AHEAD_MAX, 1)), { at: 'above' });
  const { checks } = toy;
  for (const vote of [good, at(7, 3, 1), at(2, 1, 1)]) await toy.offer(vote);
  t.equal(toy.checks, checks, 'no signature is checked for them');
});

t.test('the first vote and the first contradiction of each height', async (t) => {
  const { toy, a, at, pool } = fresh();
  await toy.offer(voteOf(2, toy.tracked(a), toy.root));
  await toy.offer(at(2, 2, 1));
  t.equal(pool.place(at(2, 2, 2)), 'known');
  const [pair] = pool.evidence.list();
  t.ok(isEvidence(pair!, scheme));
  t.notOk(isEvidence([pair![0], pair![0]], scheme));
  t.notOk(isEvidence([pair![0], { ...pair![1], signature: pair![0].signature }], scheme));
  await toy.offer(at(2, 4, 1), at(2, 4, 2));
  t.equal(pool.evidence.list().length, 1, 'one pair a key');
});

t.test('a surround is evidence', async (t) => {
  const { toy, a, pool } = fresh();
  const block = toy.tracked(a);
  const source = { height: 3, id: new Uint8Array(32) };
  const target = (height: number) => ({ height, id: new Uint8Array(32).fill(height) });
  await toy.offer(voteOf(2, block, toy.root, { source, target: target(4) }));
  t.equal(pool.evidence.list().length, 0);
  await toy.offer(voteOf(2, block, toy.root, { target: target(5) }));
  t.strictSame(
    pool.evidence.list().map(([{ voter }]) => voter),
    [accounts[1]!.publicKey],
  );
});

t.test('unknown targets give way to higher ones', async (t) => {
  const { toy, at, pool } = fresh();
  const heights = [3, 4, 5, 6, 7, 8, 9];
  await toy.offer(...heights.map((height) => at(2, height, height)), at(2, 3, 99));
  t.equal(pool.kept.of(secondVoter()).length, UNKNOWN_MAX);
  t.equal(pool.place(at(2, 2, 50)), 'unknown-targets');
  await toy.offer(at(2, 10, 10));
  const kept = pool.kept.of(secondVoter()).map(({ target }) => target.height);
  t.strictSame(kept, [3, 4, 5, 6, 7, 8, 9, 10]);
});

t.test('a false height touches no vote for the true one', async (t) => {
  const { toy, at, pool } = fresh();
  await toy.offer(at(4, 2 + AHEAD_MAX, 77));
  for (const name of [1, 2, 3]) await toy.offer(at(name, 4, 9));
  await toy.offer(at(4, 2, 9), at(4, 9, 9));
  const found = pool.unknownTargets().map(({ key, height, voters }) => [key, height, voters.size]);
  const key = (height: number, fill: number) =>
    checkpointKey({ height, id: new Uint8Array(32).fill(fill) });
  t.strictSame(
    found.sort((x, y) => Number(x[1]) - Number(y[1])),
    [
      [key(2, 9), 2, 1],
      [key(4, 9), 4, 3],
      [key(9, 9), 9, 1],
      [key(10, 77), 10, 1],
    ],
  );
});

const secondVoter = () => Buffer.from(accounts[1]!.publicKey).toString('latin1');

t.test('a chain that moves during a check', async (t) => {
  const { toy, a, pool } = fresh();
  const late = voteOf(4, toy.tracked(a), toy.root);
  const under = toy.offer(late);
  t.equal(pool.kept.newest(9).length, 0);
  const b = toy.block(a);
  toy.engine.tracker.final = { height: b.height, id: b.id };
  t.notOk(await under, 'no offence');
  t.equal(pool.kept.newest(9).length, 0, 'it is not kept below the final block');
});

t.test('what is not kept any more when its check ends is not passed on', async (t) => {
  const { toy, a, pool } = fresh();
  const under = pool.offer([voteOf(4, toy.tracked(a), toy.root)]);
  const b = toy.block(a);
  toy.engine.tracker.final = { height: b.height, id: b.id };
  t.strictSame(await under, { taken: [], offence: undefined });
});

t.test('the first contradiction of a key stays', async (t) => {
  const { at } = fresh();
  const evidence = new Evidence();
  const first = [at(2, 2, 1), at(2, 2, 2)] as const;
  t.ok(evidence.add(first));
  t.notOk(evidence.add([at(2, 3, 1), at(2, 3, 2)]));
  t.ok(evidence.add([at(3, 3, 1), at(3, 3, 2)]));
  t.equal(evidence.list()[0], first);
});

t.test('votes in all', async (t) => {
  const { at } = fresh();
  const kept = new KeptVotes(4);
  for (const height of [2, 3, 4, 5, 6]) kept.add(at(2, height, 1), false);
  t.strictSame(
    kept.newest(9).map(({ target }) => target.height),
    [6, 5, 4, 3],
  );
  kept.dropTo(4);
  t.equal(kept.newest(9).length, 2);
  t.equal(kept.highestOf(secondVoter()), 6);
});

t.test('messages', async (t) => {
  const { toy, a } = fresh();
  const vote = voteOf(2, toy.tracked(a), toy.root);
  const most = Array.from({ length: VOTES_OF_MESSAGE_MAX }, () => vote);
  const bytes = encodeVotes(most, scheme);
  t.equal(bytes.length, 1 + VOTES_OF_MESSAGE_MAX * signedVoteBytes(scheme));
  t.ok(bytes.length <= 80 * 1024);
  t.strictSame(decodeVotes(bytes, scheme), most);
  t.throws(() => decodeVotes(bytes.subarray(1), scheme));
  t.throws(() => decodeVotes(bytes.subarray(0, -1), scheme), /bytes, expected/);
  t.throws(() => decodeVotes(Uint8Array.of(0), scheme));
  t.throws(() => decodeVotes(encodeVotes([...most, vote], scheme), scheme));
});
