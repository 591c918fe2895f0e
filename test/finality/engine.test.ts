// The engine as a whole (finality.md): what it shows, carries, refuses and waits for.
import t from 'tap';
import { equal, latin1 } from '../../src/base/bytes.ts';
import { decodeFinalProof, encodeFinalProof } from '../../src/finality/proofs/final-proof.ts';
import { GATHER_MS } from '../../src/finality/spread/vote-outbox.ts';
import { checkpointKey, type Vote } from '../../src/finality/votes/vote.ts';
import { encodeVotes } from '../../src/finality/votes/votes-message.ts';
import { compareBranches } from './branch-order.ts';
import { setOf } from './network/toy-chain.ts';
import { ROUND_MS, ToyEngine, voteOf } from './toy-engine.ts';
import { scheme } from './vectors.ts';

const four = setOf(1, 2, 3, 4);
const seven = setOf(1, 2, 3, 4, 5, 6, 7);

t.test('votes make a block justified, its child makes it final', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.follow(toy.block(toy.root));
  await toy.votes(a, 1, 2);
  t.equal(toy.engine.toCarry(), undefined);
  await toy.votes(a, 3);
  t.strictSame(toy.engine.toCarry()?.target.id, a.id);
  const b = toy.follow(toy.block(a));
  t.equal(toy.engine.tracker.final.height, 1, 'the root, once its child is justified');
  await toy.votes(b, 1, 2, 4);
  await toy.world.runUntil(toy.world.now + 1);
  t.strictSame(toy.engine.final().id, a.id);
  t.strictSame(decodeFinalProof(toy.saved.at(-1)!, scheme).link.target.id, b.id);
  const other = toy.block(toy.root);
  t.notOk(toy.isAboveFinal(toy.tracked(other)));
  t.ok(toy.isAboveFinal(toy.tracked(toy.block(a))));
});

t.test('the proof of a final block counts as its votes', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.follow(toy.block(toy.root));
  await toy.votes(a, 1, 2, 3);
  const b = toy.follow(toy.block(a));
  const votes = [1, 2, 3, 4].map((name) => voteOf(name, toy.tracked(b), toy.root));
  const { keys } = four;
  const proof = (change: Partial<Vote> = {}, signatures = votes): Uint8Array => {
    const link = { ...votes[0]!, ...change };
    const by = keys.map((key) => signatures.find(({ voter }) => equal(voter, key))?.signature);
    return encodeFinalProof({ link, justification: { target: link.target, votes: by } }, scheme);
  };
  const offer = (bytes: Uint8Array) => toy.engine.receiveProof(bytes, toy.peer(1));
  t.match(await offer(proof().subarray(1)), { name: 'CodecError' });
  const forged = votes.map((vote, i) => ({ ...vote, signature: votes[(i + 1) % 4]!.signature }));
  t.match(await offer(proof({}, forged)), { message: /wrong signature/ });
  t.equal(await offer(proof({ ruleHash: new Uint8Array(32) })), undefined, 'of other voters');
  t.equal(toy.engine.tracker.final.height, 1);
  t.equal(await offer(proof()), undefined);
  t.equal(toy.engine.tracker.final.height, 2);
  await toy.world.runUntil(toy.world.now + 1);
  t.strictSame(toy.proved, []);
  toy.engine.joined(toy.peer(2));
  t.strictSame(toy.proved, toy.saved.slice(-1), 'and whoever connects gets it');
});

t.test('the proof of a block that the own chain lacks waits for it', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.follow(toy.block(toy.root));
  await toy.votes(a, 1, 2, 3);
  const b = toy.block(a);
  toy.follow(toy.block(toy.root));
  await toy.votes(b, 1, 2, 3);
  await toy.world.runUntil(toy.world.now + 2 * ROUND_MS);
  t.equal(toy.engine.tracker.final.height, 2, 'it is known');
  t.equal(toy.engine.final().height, 1, 'and not shown');
  t.equal(toy.saved.length, 0);
  t.strictSame(decodeFinalProof(toy.ahead.at(-1)!, scheme).link.target.id, b.id, 'but kept');
  toy.follow(b);
  await toy.world.runUntil(toy.world.now + 1);
  t.equal(toy.engine.final().height, 2);
});

t.test('votes that a block alone has are told to peers, as if they had just come', async (t) => {
  const before = new ToyEngine(four);
  const a = before.follow(before.block(before.root));
  await before.votes(a, 1, 2, 3);
  const b = before.follow(before.block(a));
  const toy = new ToyEngine(four);
  for (const block of [a, b]) {
    const tracked = before.tracked(block);
    toy.index.set(tracked.id, tracked);
    toy.engine.added(tracked);
    toy.follow(block);
  }
  t.ok(toy.engine.tracker.isJustified(latin1(a.id)));
  toy.engine.joined(toy.peer(1));
  const targets = () => toy.sent.map(({ target }) => latin1(target.id));
  t.strictSame(targets(), Array(3).fill(latin1(a.id)), 'to whoever connects');
  t.equal(await before.offer(...toy.sent), undefined, 'they are good');
  toy.connected = [1];
  await toy.world.runUntil(toy.world.now + 3 * ROUND_MS);
  t.equal(toy.sent.length, 6, 'and once to who is connected');
  await toy.votes(a, 4);
  toy.sent.length = 0;
  toy.engine.joined(toy.peer(1));
  t.equal(toy.sent.length, 4, 'each once');
});

t.test('a vote with a false height in a message does not hide the true ones', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.follow(toy.block(toy.root));
  const tracked = toy.tracked(a);
  const [one, two, three] = [1, 2, 3].map((name) => voteOf(name, tracked, toy.root));
  const target = { ...tracked.checkpoint, height: tracked.checkpoint.height + 1 };
  await toy.offer(one!, two!, three!, voteOf(4, tracked, toy.root, { target }));
  t.strictSame(toy.engine.toCarry()?.target.id, a.id);
});

t.test('a final block is shown once its proof is on disk', async (t) => {
  const toy = new ToyEngine(four);
  toy.canSave = false;
  const a = toy.follow(toy.block(toy.root));
  await toy.votes(a, 1, 2, 3);
  const b = toy.follow(toy.block(a));
  await toy.votes(b, 1, 2, 3);
  await toy.world.runUntil(toy.world.now + 1);
  t.equal(toy.engine.tracker.final.height, 2);
  t.equal(toy.engine.final().height, 1);
  toy.canSave = true;
  await toy.world.runUntil(toy.world.now + ROUND_MS);
  t.equal(toy.engine.final().height, 2);
});

t.test('the better branch: justified, then score, then id', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.block(toy.root);
  const long = toy.block(toy.block(toy.root));
  const { tracker } = toy.engine;
  t.ok(compareBranches(toy.tracked(long), toy.tracked(a), tracker) > 0);
  await toy.votes(a, 1, 2, 3);
  t.ok(compareBranches(toy.tracked(a), toy.tracked(long), tracker) > 0);
  const twins = [toy.block(a), toy.block(a)].sort((x, y) => Buffer.compare(x.id, y.id));
  t.ok(compareBranches(toy.tracked(twins[0]!), toy.tracked(twins[1]!), tracker) > 0);
});

t.test('what is held against a peer', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.follow(toy.block(toy.root));
  const good = voteOf(2, toy.tracked(a), toy.root);
  const { engine } = toy;
  t.ok(await engine.receive(Uint8Array.of(1, 2, 3), toy.peer(1)), 'bytes that are no votes');
  t.ok(await toy.offer({ ...good, signature: new Uint8Array(64) }), 'a wrong signature');
  t.notOk(await toy.offer(good));
  const none = [
    voteOf(7, toy.tracked(a), toy.root),
    voteOf(2, toy.tracked(a), toy.root, { genesis: new Uint8Array(32) }),
    voteOf(2, toy.tracked(a), toy.root, { target: { height: 3, id: new Uint8Array(32) } }),
  ];
  for (const vote of none) t.notOk(await toy.offer(vote));
});

t.test('new votes are passed on once, and shown to who joins', async (t) => {
  const toy = new ToyEngine(four);
  toy.connected = [2, 3];
  const a = toy.follow(toy.block(toy.root));
  await toy.votes(a, 2);
  t.equal(toy.sent.length, 2);
  await toy.votes(a, 2);
  t.equal(toy.sent.length, 2);
  toy.engine.joined(toy.peer(4));
  t.equal(toy.sent.length, 3);
});

/**
 * At final + R half of the voters have voted for a block that begins a change to seven, and half for its
 * sibling. Voters 5 to 7 do not decide on that block, so they have no vote at its height.
 */
t.test('waiting asks those who decide on the parent', async (t) => {
  const toy = new ToyEngine(four);
  toy.connected = [1, 2, 3, 4, 5, 6, 7];
  const below = toy.follow(toy.block(toy.root));
  const [a, b] = [toy.block(below, seven), toy.block(below)];
  toy.follow(a);
  t.notOk(toy.engine.mayMakeBlock());
  await toy.votes(a, 1, 2);
  await toy.votes(b, 3, 4);
  t.ok(toy.engine.mayMakeBlock());
  toy.connected = [1, 2, 3, 4];
  t.notOk(toy.engine.mayMakeBlock(), 'of the new set a quorum is connected too');
});

t.test(
  'the child of a block whose voters operators have named needs no votes for that',
  async (t) => {
    const toy = new ToyEngine(four);
    toy.connected = [1, 2, 3, 4];
    const block = toy.follow(toy.block(toy.block(toy.root)));
    const tracked = toy.tracked(block);
    t.notOk(toy.engine.mayMakeBlock());
    toy.index.set(tracked.id, { ...tracked, isOverridden: true });
    t.ok(toy.engine.mayMakeBlock());
    toy.connected = [1, 2];
    t.notOk(toy.engine.mayMakeBlock(), 'a quorum of them is connected all the same');
  },
);

/** All follow a short branch for its justification, after they have voted far above it. */
t.test('votes far above the tip count for waiting', async (t) => {
  const toy = new ToyEngine(four);
  toy.connected = [1, 2, 3, 4];
  const a = toy.block(toy.root);
  const b = toy.follow(toy.block(a));
  t.equal(b.height, 3);
  const block = toy.tracked(toy.block(b));
  for (const [name, height] of [
    [1, 40],
    [2, 41],
    [3, 42],
  ] as const) {
    t.notOk(toy.engine.mayMakeBlock());
    const id = new Uint8Array(32).fill(name);
    await toy.offer(voteOf(name, block, toy.root, { target: { height, id } }));
  }
  t.ok(toy.engine.mayMakeBlock());
  const { checks } = toy;
  const id = new Uint8Array(32).fill(9);
  await toy.offer(voteOf(3, block, toy.root, { target: { height: 50, id } }));
  t.equal(toy.checks, checks, 'one of each voter is enough');
});

t.test('who has told of votes for unknown blocks', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.follow(toy.block(toy.root));
  const hidden = { height: 3, id: new Uint8Array(32).fill(3) };
  const vote = voteOf(2, toy.tracked(a), toy.root, { target: hidden });
  const [one, two] = [toy.peer(3), toy.peer(4)];
  const key = checkpointKey(hidden);
  const { tellers } = toy.engine;
  t.notOk(tellers.has(one, [key]));
  await toy.engine.receive(encodeVotes([vote], scheme), one);
  await toy.engine.receive(encodeVotes([vote], scheme), two);
  t.ok(tellers.has(one, [key]) && tellers.has(two, [key]), 'also of one that was known');
  t.notOk(tellers.has(toy.peer(1), [key]));
  t.strictSame(
    toy.engine.pool.unknownTargets().map(({ height, voters }) => [height, voters.size]),
    [[3, 1]],
  );
  await toy.engine.receive(encodeVotes([voteOf(2, toy.tracked(a), toy.root)], scheme), one);
  t.notOk(tellers.has(one, [checkpointKey(a)]), 'that block is known');
  toy.engine.pool.kept.dropTo(3);
  toy.engine.moved();
  t.notOk(tellers.has(one, [key]), 'nobody seeks it any more');
});

t.test('who tells of a false height for a block does not stand for the true one', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.follow(toy.block(toy.root));
  const id = new Uint8Array(32).fill(3);
  const voted = (name: number, height: number) =>
    encodeVotes([voteOf(name, toy.tracked(a), toy.root, { target: { height, id } })], scheme);
  const [liar, honest] = [toy.peer(3), toy.peer(4)];
  const { tellers } = toy.engine;
  await toy.engine.receive(voted(4, 2), liar);
  await toy.engine.receive(voted(2, 3), honest);
  t.strictSame(
    [liar, honest].map((one) => tellers.has(one, [checkpointKey({ height: 3, id })])),
    [false, true],
  );
  await toy.engine.receive(voted(7, 5), liar);
  t.notOk(tellers.has(liar, [checkpointKey({ height: 5, id })]), 'a vote that was not taken');
  await toy.engine.receive(voted(4, 3), liar);
  toy.engine.pool.kept.dropTo(2);
  toy.engine.moved();
  t.notOk(tellers.has(liar, [checkpointKey({ height: 2, id })]), 'that vote is gone');
  t.ok(tellers.has(liar, [checkpointKey({ height: 3, id })]));
});

t.test('an own vote in a block that the note lacks', async (t) => {
  const toy = new ToyEngine(four, 2, 1);
  const { voter } = toy.engine;
  const a = toy.follow(toy.block(toy.root));
  await toy.votes(a, 2, 3, 4);
  const b = toy.follow(toy.block(a));
  t.equal(voter?.state(), 'listening', 'the votes of others say nothing of the note');
  await toy.votes(b, 2, 3);
  const own = { ...voteOf(1, toy.tracked(b), toy.root) };
  toy.engine.pool.kept.add(own, false);
  toy.engine.tracker.voted(latin1(b.id), b.height);
  toy.block(b);
  t.equal(voter?.state(), 'without-note', 'a backup of the note was older');
});

t.test('votes that come one after the other are passed on together', async (t) => {
  const toy = new ToyEngine(seven);
  toy.connected = [2];
  const a = toy.follow(toy.block(toy.root));
  await toy.votes(a, 1, 2, 3, 4, 5, 6, 7);
  t.equal(toy.sent.length, 1, 'the first at once');
  await toy.world.runUntil(toy.world.now + 2 * GATHER_MS);
  t.equal(toy.sent.length, 7);
  t.equal(toy.messages, 2);
});
