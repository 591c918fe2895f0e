// What a liar, a stranger and a restored machine may not bring about (finality.md).
import t from 'tap';
import { latin1 } from '../../src/base/bytes.ts';
import type { SignatureCheck, Verifier } from '../../src/base/ports/verifier.ts';
import { Finality } from '../../src/finality/finality.ts';
import {
  decodeNote,
  encodeNote,
  FIRST_NOTE,
  type Note,
  readNote,
} from '../../src/finality/note-file.ts';
import { verifyOffline } from '../../src/finality/proofs/offline-proof.ts';
import { rules } from '../../src/finality/rules.ts';
import { Tracker } from '../../src/finality/tracker.ts';
import { KeptVotes } from '../../src/finality/votes/kept-votes.ts';
import { type SignedVote, voteBytes } from '../../src/finality/votes/vote.ts';
import { VotePool } from '../../src/finality/votes/vote-pool.ts';
import { decidingOn } from '../../src/finality/votes/voter-set.ts';
import { encodeVotes } from '../../src/finality/votes/votes-message.ts';
import { family } from '../family.ts';
import { Dice } from '../system/sim/random.ts';
import { nodeClock, World } from '../system/sim/world.ts';
import { judgeCarried } from './judge-carried.ts';
import { accounts, setOf, type ToyBlock } from './network/toy-chain.ts';
import { silent } from './schedule.ts';
import { ROUND_MS, ToyEngine, voteOf } from './toy-engine.ts';
import { scheme } from './vectors.ts';

const four = setOf(1, 2, 3, 4);
const dice = new Dice(31);
const verify = async (items: readonly SignatureCheck[]) =>
  items.map((one) => scheme.verify(one.publicKey, one.message, one.signature));
const verifier: Verifier = {
  verify,
  verifyOne: async (...one) => scheme.verify(...one),
  close: async () => {},
};
const portsOf = (toy: ToyEngine) => ({
  blocks: toy.index,
  genesis: toy.root.id,
  scheme,
  rules,
  verifier,
});

t.test('a vote with the id of a block and another height is none for it', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.follow(toy.block(toy.root));
  await toy.offer(voteOf(1, toy.tracked(a), toy.root, { target: { height: 3, id: a.id } }));
  await toy.votes(a, 2, 3);
  t.notOk(toy.engine.tracker.isJustified(latin1(a.id)));
  await toy.votes(a, 4);
  await t.resolves(judgeCarried(toy.engine.toCarry()!, toy.tracked(a), portsOf(toy)));
});

t.test('a justification of the parent names its height', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.follow(toy.block(toy.root));
  await toy.votes(a, 1, 2, 3);
  const { votes } = toy.engine.toCarry()!;
  for (const height of [3, 0xffff_ffff]) {
    const forged = { target: { height, id: a.id }, votes };
    const judged = judgeCarried(forged, toy.tracked(a), portsOf(toy));
    await t.rejects(judged, { message: /another chain/ }, `height ${height}`);
  }
});

t.test('a full pool does not take and pass on what it drops at once', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.follow(toy.block(toy.root));
  const { genesis } = portsOf(toy);
  const view = {
    final: () => 1,
    tip: () => 2,
    membersOn: (id: string) => (toy.index.has(id) ? four : undefined),
    membersNext: () => four,
  };
  const pool = new VotePool(
    { genesis, scheme, verifier, onEvidence: () => {}, view },
    new KeptVotes(6),
  );
  for (const height of [3, 4, 5, 6, 7, 8]) {
    const target = { height, id: new Uint8Array(32).fill(height) };
    await pool.offer([voteOf(2, toy.tracked(a), toy.root, { target })]);
  }
  const old = voteOf(3, toy.tracked(a), toy.root);
  t.strictSame((await pool.offer([old])).taken, []);
  t.equal(pool.kept.newest(9).length, 6);
});

t.test('what is below the index is no conflict', async (t) => {
  const toy = new ToyEngine(four);
  const blocks = [toy.root];
  for (let i = 0; i < 3; i++) {
    blocks.push(toy.follow(toy.block(blocks.at(-1)!)));
    await toy.votes(blocks.at(-1)!, 1, 2, 3);
  }
  const { final } = toy.engine.tracker;
  t.equal(final.height, 3);
  const index = new Map([...toy.index].filter(([, one]) => one.checkpoint.height >= 3));
  const ports = { blocks: index, votesFor: () => [], genesis: toy.root.id, scheme, rules };
  const tracker = new Tracker(final, ports);
  for (const block of index.values()) tracker.added(block);
  t.equal(tracker.conflict, undefined);
});

t.test(
  'an offline proof whose set has the addresses of voters and the keys of others',
  async (t) => {
    const sets = { change: 0, current: four, next: undefined };
    const { ruleHash } = decidingOn(sets, scheme);
    const keys = setOf(4, 5, 6, 7);
    const forged = { ...keys, addresses: four.addresses };
    const genesis = new Uint8Array(32);
    const { id, header } = new ToyEngine(four).root;
    const target = { height: 6, id: new Uint8Array(32).fill(6) };
    const link = { genesis, ruleHash, source: { height: 5, id }, target };
    const votes = keys.keys.map((key) => {
      const { privateKey } = accounts.find(({ publicKey }) => latin1(publicKey) === latin1(key))!;
      return family.sign(privateKey, voteBytes(link, scheme), dice);
    });
    const step = { link, justification: { target, votes }, sets: { ...sets, current: forged } };
    const headers = [header];
    const verdict = verifyOffline(
      { steps: [step], headers },
      { genesis, height: 1, ruleHash },
      scheme,
    );
    t.notOk(verdict.isProved);
  },
);

t.test('two proofs of which neither is above the other', async (t) => {
  const toy = new ToyEngine(four);
  const [a, b] = [toy.block(toy.root), toy.block(toy.root)];
  await toy.votes(a, 1, 2, 3);
  await toy.votes(b, 1, 2, 3);
  await toy.votes(toy.block(a), 1, 2, 3);
  const { tracker } = toy.engine;
  t.strictSame(tracker.final.id, a.id);
  t.equal(tracker.conflict, undefined);
  toy.headBlock = b;
  await toy.votes(toy.block(b), 1, 2, 3);
  t.strictSame(
    tracker.conflict?.map(({ id }) => id),
    [a.id, b.id],
  );
  t.strictSame(tracker.final.id, a.id, 'the first is kept');
});

t.test('a forged vote does not hide the good one while it is checked', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.follow(toy.block(toy.root));
  const good = voteOf(2, toy.tracked(a), toy.root);
  t.ok(await toy.offer({ ...good, signature: new Uint8Array(64) }, good));
  t.strictSame(toy.engine.pool.kept.newest(9).length, 1);
});

t.test('votes for unknown targets cost the same however many are kept', async (t) => {
  const toy = new ToyEngine(four);
  const block = toy.tracked(toy.block(toy.root));
  const at = (height: number, fill: number) =>
    voteOf(2, block, toy.root, { target: { height, id: new Uint8Array(32).fill(fill) } });
  let asked = 0;
  const membersOn = (id: string) => {
    asked += 1;
    return id.charCodeAt(0) < 100 ? four : undefined;
  };
  const view = { final: () => 1, tip: () => 90, membersOn, membersNext: () => four };
  const { genesis } = portsOf(toy);
  const pool = new VotePool({ genesis, scheme, verifier, onEvidence: () => {}, view });
  await pool.offer(Array.from({ length: 60 }, (_, i) => at(10 + i, i)));
  await pool.offer(Array.from({ length: 8 }, (_, i) => at(80 + i, 100 + i)));
  t.equal(pool.kept.newest(99).length, 68);
  asked = 0;
  t.equal(pool.place(at(5, 200)), 'unknown-targets');
  t.ok(asked <= 10, `${asked} blocks were looked for`);
});

/** A node that votes with the second key, whose chain is set by hand. */
function votingNode(toy: ToyEngine, note: Note | undefined, final = toy.root, now = 1_000_000) {
  const { publicKey, privateKey } = accounts[1]!;
  const world = new World(now);
  const proof = toy.engine.tracker.final.proof;
  const disk = { writes: 0 };
  let head: ToyBlock = toy.headBlock;
  const write = async () => {
    disk.writes += 1;
  };
  const engine = new Finality(
    final === toy.root ? final : { height: final.height, id: final.id, proof: proof! },
    { genesis: toy.root.id, maxRollback: 2, roundMs: ROUND_MS },
    {
      scheme,
      clock: nodeClock(world, 0),
      log: silent,
      verifier,
      rules,
      blocks: toy.index,
      head: () => toy.tracked(head),
      peers: () => [],
      voter: {
        publicKey,
        sign: (message) => family.sign(privateKey, message, dice),
        disk: { read: () => undefined, replace: write, remove: write },
        note,
      },
      saveProof: async () => true,
      onChange: () => {},
    },
  );
  const follow = async (block: ToyBlock) => {
    head = block;
    engine.moved();
    await world.runUntil(world.now + 1);
  };
  const receive = (...votes: readonly SignedVote[]) =>
    engine.receive(encodeVotes(votes, scheme), toy.peer(1));
  const round = () => world.runUntil(world.now + ROUND_MS + 1);
  return { engine, voter: engine.voter!, disk, follow, receive, round };
}

t.test('a key in two machines stops, however old the other vote is', async (t) => {
  const toy = new ToyEngine(four);
  const [a, other] = [toy.block(toy.root), toy.block(toy.root)];
  const c = toy.block(a);
  const { engine, voter, disk, follow, receive, round } = votingNode(toy, FIRST_NOTE);
  engine.start();
  await round();
  await follow(a);
  await follow(c);
  t.equal(disk.writes, 2, 'it has voted for both');
  await receive(voteOf(2, toy.tracked(other), toy.root));
  t.equal(voter.state(), 'without-note');
});

t.test('a clock that is behind makes no final block younger than the loss', async (t) => {
  const toy = new ToyEngine(four);
  const blocks = [toy.root];
  for (let i = 0; i < 8; i++) {
    blocks.push(toy.follow(toy.block(blocks.at(-1)!)));
    await toy.votes(blocks.at(-1)!, 1, 3, 4);
  }
  const { height } = toy.engine.tracker.final;
  t.equal(height, 8);
  const { engine, voter } = votingNode(toy, undefined, blocks[height - 1], 0);
  engine.start();
  t.equal(voter.state(), 'without-note');
});

t.test('who has stopped signs nothing', async (t) => {
  const toy = new ToyEngine(four);
  const a = toy.block(toy.root);
  const { engine, disk, follow, round } = votingNode(toy, FIRST_NOTE);
  engine.start();
  await round();
  engine.stop();
  await follow(a);
  t.equal(disk.writes, 0);
});

t.test('the last vote of a single voter counts after a restart', async (t) => {
  const toy = new ToyEngine(setOf(2));
  const a = toy.follow(toy.block(toy.root));
  const vote = voteOf(2, toy.tracked(a), toy.root);
  const { engine } = votingNode(toy, { link: { source: 1, target: 2 }, vote });
  engine.start();
  t.ok(engine.tracker.isJustified(latin1(a.id)));
});

t.test('a note has a vote of its own key and network', async (t) => {
  const toy = new ToyEngine(four);
  const block = toy.tracked(toy.block(toy.root));
  const owner = { genesis: toy.root.id, voter: accounts[1]!.publicKey };
  const link = { source: 1, target: 2 };
  const genesis = block.checkpoint.id;
  const wrong = [voteOf(3, block, toy.root), voteOf(2, block, toy.root, { genesis })];
  for (const vote of wrong) {
    const bytes = encodeNote({ link, vote }, owner, scheme);
    t.throws(() => decodeNote(bytes, owner, scheme), /its vote is another one/);
    t.throws(() => readNote({ read: () => bytes }, 'note', owner, scheme));
  }
});
