// What votes do to the chain of a node (finality.md#fork-choice): the final block stays, and a branch with the
// higher justified block wins, whatever the scores are.

import t from 'tap';
import { equal, latin1 } from '../../src/base/bytes.ts';
import type { Files } from '../../src/base/ports/files.ts';
import { type Block, decodeBlock } from '../../src/block/block.ts';
import { finalFloor, storedFinalProof } from '../../src/chain/finality/final-floor.ts';
import { voteFor } from '../../src/finality/carried.ts';
import { decodeNote } from '../../src/finality/note-file.ts';
import { encodeVote, type SignedVote, voteBytes } from '../../src/finality/votes/vote.ts';
import { decidingOn } from '../../src/finality/votes/voter-set.ts';
import { encodeVotes } from '../../src/finality/votes/votes-message.ts';
import { VOTES } from '../../src/network/messages/vote-messages.ts';
import type { Session, Sessions } from '../../src/network/sessions/session.ts';
import { NodeFinality } from '../../src/node/open-finality.ts';
import { memoryFiles } from '../keystore/sample.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import {
  type Account,
  GENESIS_TIME,
  LENGTH_MS,
  mine,
  miners,
  newChain,
  quiet,
  scheme,
  type TestChain,
  verifier,
} from './chain-harness.ts';
import { blocksOf, chainWith, WITH_FINALITY } from './finality-harness.ts';
import { createTestForkChoice } from './fork-harness.ts';
import { makeBlock } from './make-block.ts';

const NOTE = '/node/finality-note';

interface Node extends TestChain {
  readonly finality: NodeFinality;
  readonly files: ReturnType<typeof memoryFiles>;
  /** Messages of votes that it has sent. */
  readonly sent: Uint8Array[];
  readonly receive: (votes: readonly SignedVote[]) => Promise<void>;
  /** Runs what waits for the clock. */
  readonly later: () => void;
}

async function node(
  owner: Account = miners[0]!,
  files = memoryFiles(),
  chain = chainWith(),
): Promise<Node> {
  const at = await chain;
  const timers = new Set<() => void>();
  const clock = {
    ...at.clock,
    now: () => at.clock.time,
    after: (_ms: number, action: () => void) => {
      timers.add(action);
      return () => void timers.delete(action);
    },
  };
  const finality = new NodeFinality(
    { isPoa: true, maxRollback: 2, roundMs: LENGTH_MS, notePath: NOTE, votes: true, waits: true },
    {
      scheme,
      blockchain: at.blockchain,
      rules: WITH_FINALITY,
      store: at.store,
      verifier,
      clock,
      log: quiet,
      files: files as Files,
      owner,
    },
  );
  const sent: Uint8Array[] = [];
  let take: (session: Session, message: Uint8Array) => void = () => {};
  const session = {
    miner: miners[1]!.address,
    notify: (_protocol: string, message: Uint8Array) => void sent.push(message),
    offend: (offence: string) => t.fail(offence),
  } as unknown as Session;
  finality.attach({
    all: () => [session],
    handleNotices: (protocol: string, handler: { take: typeof take }) => {
      if (protocol === VOTES) take = handler.take;
    },
    onOpen: () => {},
  } as unknown as Sessions);
  finality.start();
  t.teardown(() => finality.stop());
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    ...at,
    finality,
    files,
    sent,
    async receive(votes) {
      take(session, encodeVotes(votes, scheme));
      await settled();
    },
    later() {
      for (const timer of [...timers]) {
        timers.delete(timer);
        timer();
      }
    },
  };
}

/** The votes of these accounts for the block at a height of a chain. */
function votesFor(at: TestChain, height: number, voters: readonly Account[]): SignedVote[] {
  const chain = blocksOf(at);
  const block = chain.at(height)!;
  const vote = voteFor(block, decidingOn(block.deciding, scheme), chain.checkpoint(1).id);
  return voters.map(({ publicKey, sign }) => ({
    ...vote,
    voter: publicKey,
    signature: sign(voteBytes(vote, scheme)),
  }));
}

const fresh = ({ bytes }: Block): Block => decodeBlock(bytes, scheme);
const startOf = (round: number): number => GENESIS_TIME + round * LENGTH_MS;

async function mineIn(at: TestChain, round: number): Promise<Block> {
  const from = startOf(round);
  const miner = miners.find((one) => at.blockchain.nextSlot(one, from)?.from === from)!;
  at.clock.time = from + 10;
  return makeBlock(at.blockchain, miner, at.clock.time, async () => {});
}

async function offer(at: Node, blocks: readonly Block[]): Promise<string> {
  at.clock.time = Math.max(at.clock.time, blocks.at(-1)!.header.timestamp + 1);
  const choice = createTestForkChoice(at, { finality: at.finality });
  const checked = await Promise.all(blocks.map((block) => choice.check(fresh(block))));
  return (await choice.adopt(checked)).kind;
}

t.test('what is final is on disk before it is shown, and is not taken back', async (t) => {
  const at = await node();
  await mine(at);
  t.equal(at.finality.final()?.height, 1, 'the root');
  await at.receive(votesFor(at, 2, miners));
  t.equal(at.finality.final()?.height, 1, 'a link from the root makes the root final');
  const carried = { ...miners[0]!, carried: () => at.finality.carried() };
  const maker = miners.find((one) => at.blockchain.nextSlot(one, startOf(2))?.from === startOf(2))!;
  at.clock.time = startOf(2) + 10;
  await makeBlock(
    at.blockchain,
    { ...maker, carried: carried.carried },
    at.clock.time,
    async () => {},
  );
  await at.receive(votesFor(at, 3, miners));
  t.equal(at.finality.final()?.height, 2);
  t.equal(finalFloor(at.blockchain.view), 2);
  t.equal(at.finality.floor(), 2);
  await t.rejects(at.blockchain.rollback(1), /The block at height 2 is final/);
  await at.blockchain.rollback(2);
  t.equal(at.blockchain.tip().height, 2);

  const other = await chainWith();
  const branch: Block[] = [];
  for (const round of [1, 2, 3, 4]) {
    if (round === 1) continue;
    branch.push(await mineIn(other, round));
  }
  branch.push(await mineIn(other, 5));
  t.equal(await offer(at, branch), 'outvoted', 'a longer branch without the final block');
  const lies = votesFor(other, 5, miners).map((vote) => {
    const claim = { ...vote, ruleHash: new Uint8Array(32) };
    const by = miners.find(({ publicKey }) => equal(publicKey, vote.voter))!;
    return { ...claim, signature: by.sign(voteBytes(claim, scheme)) };
  });
  await at.receive(lies);
  t.equal(await offer(at, branch), 'outvoted', 'whatever votes for it say');
  t.equal(at.blockchain.tip().height, 2);
});

t.test('the branch with the higher justified block wins against a better score', async (t) => {
  const at = await node();
  const other = await chainWith();
  const own = [await mineIn(at, 1)];
  for (const block of own) {
    other.clock.time = at.clock.time;
    await other.blockchain.append(fresh(block));
  }
  own.push(await mineIn(at, 2), await mineIn(at, 3));
  const theirs = [await mineIn(other, 4)];
  t.equal(await offer(at, theirs), 'not-better', 'without votes the score decides');
  await at.receive(votesFor(other, 3, miners.slice(1)));
  t.notOk(at.finality.seeksJustified(), 'two of three');
  t.equal(await offer(at, theirs), 'not-better');
  const [last] = votesFor(other, 3, [miners[0]!]);
  const claim = { ...last!, ruleHash: new Uint8Array(32) };
  const signature = miners[0]!.sign(voteBytes(claim, scheme));
  const misled = await node();
  misled.clock.time = at.clock.time;
  for (const block of own) await misled.blockchain.append(fresh(block));
  await misled.receive([...votesFor(other, 3, miners.slice(1)), { ...claim, signature }]);
  t.ok(misled.finality.seeksJustified(), 'it looks like a quorum');
  t.equal(await offer(misled, theirs), 'not-better', 'and is none for this block');
  await at.receive([last!]);
  t.ok(at.finality.seeksJustified(), 'a quorum has voted for a block that is not in this chain');
  t.equal(await offer(at, theirs), 'adopted');
  t.notOk(at.finality.seeksJustified());
  t.equal(await offer(at, own.slice(1)), 'outvoted', 'and the longer branch does not come back');
});

t.test(
  'one voter that names false heights hides no block that a quorum has voted for',
  async (t) => {
    const at = await node();
    const other = await chainWith();
    const shared = await mineIn(at, 1);
    other.clock.time = at.clock.time;
    await other.blockchain.append(fresh(shared));
    await mineIn(at, 2);
    const theirs = [await mineIn(other, 3)];
    await at.receive(votesFor(at, 2, miners));
    const [vote] = votesFor(other, 3, [miners[1]!]);
    const lie = (height: number, id = vote!.target.id): SignedVote => {
      const claim = { ...vote!, target: { height, id } };
      return { ...claim, signature: miners[1]!.sign(voteBytes(claim, scheme)) };
    };
    await at.receive([lie(4, new Uint8Array(32)), lie(2), lie(5)]);
    t.notOk(at.finality.seeksJustified());
    await at.receive(votesFor(other, 3, miners));
    t.ok(at.finality.seeksJustified());
    t.equal(await offer(at, theirs), 'adopted');
    t.notOk(at.finality.seeksJustified());
  },
);

t.test('a late branch whose votes do not count stays a late one', async (t) => {
  const at = await node();
  const other = await chainWith();
  const own = [await mineIn(at, 1)];
  other.clock.time = at.clock.time;
  await other.blockchain.append(fresh(own[0]!));
  own.push(await mineIn(at, 3));
  const theirs = [await mineIn(other, 2)];
  t.ok(other.blockchain.tip().score > at.blockchain.tip().score);
  const votes = votesFor(other, 3, miners);
  const claim = { ...votes[0]!, ruleHash: new Uint8Array(32) };
  const signature = miners[0]!.sign(voteBytes(claim, scheme));
  await at.receive([...votes.slice(1), { ...claim, signature }]);
  t.ok(at.finality.seeksJustified());
  t.equal(await offer(at, theirs), 'late', 'nobody is to blame for its score');
  t.equal(at.blockchain.tip().height, 3);
});

/** A chain whose block 2 is final as soon as there are votes for block 3, and a branch that others vote for. */
async function aboutToBeFinal(chain = chainWith()) {
  const at = await node(miners[0]!, memoryFiles(), chain);
  await mineIn(at, 1);
  await at.receive(votesFor(at, 2, miners));
  const from = startOf(2);
  const maker = miners.find((one) => at.blockchain.nextSlot(one, from)?.from === from)!;
  at.clock.time = from + 10;
  const carrying = { ...maker, carried: () => at.finality.carried() };
  await makeBlock(at.blockchain, carrying, at.clock.time, async () => {});
  const other = await chainWith();
  const theirs: Block[] = [];
  for (const round of [3, 4, 5]) theirs.push(await mineIn(other, round));
  return { at, theirs, votes: votesFor(at, 3, miners), lies: votesFor(other, 4, miners) };
}

t.test('what becomes final while another branch is written is not shown', async (t) => {
  let during: (() => Promise<void>) | undefined;
  const hold = async (): Promise<void> => {
    const action = during;
    during = undefined;
    await action?.();
  };
  const chain = newChain(createMemoryStore({ hold }), WITH_FINALITY);
  const { at, theirs, votes, lies } = await aboutToBeFinal(chain);
  await at.receive(lies);
  during = () => at.receive(votes);
  t.equal(await offer(at, theirs), 'adopted');
  await at.receive(lies);
  t.equal(during, undefined);
  t.equal(at.finality.final()?.height, 1, 'the root');
  t.equal(storedFinalProof(at.blockchain.view, scheme), undefined, 'of a block that is not there');
});

t.test('what becomes final while another branch is applied stays', async (t) => {
  const { at, theirs } = await aboutToBeFinal();
  let asked = 0;
  const choice = createTestForkChoice(at, {
    finality: {
      // Votes come after the first look.
      floor: () => (asked++ === 0 ? 1 : 2),
      lead: () => 'theirs',
      exactLead: () => 'theirs',
    },
  });
  at.clock.time = Math.max(at.clock.time, theirs.at(-1)!.header.timestamp + 1);
  const checked = await Promise.all(theirs.map((block) => choice.check(fresh(block))));
  t.match(await choice.adopt(checked), { kind: 'outvoted' });
  t.equal(asked > 1, true);
  t.equal(at.blockchain.tip().height, 3);
});

t.test('votes that do not count take no justified block away, whatever the score', async (t) => {
  const at = await node();
  const other = await chainWith();
  const shared = await mineIn(at, 1);
  other.clock.time = at.clock.time;
  await other.blockchain.append(fresh(shared));
  await mineIn(at, 2);
  const theirs = [await mineIn(other, 3), await mineIn(other, 4), await mineIn(other, 5)];
  const lies = votesFor(other, 4, miners).map((vote, i) => {
    const claim = { ...vote, ruleHash: new Uint8Array(32) };
    return { ...claim, signature: miners[i]!.sign(voteBytes(claim, scheme)) };
  });
  await at.receive([...votesFor(at, 3, miners), ...lies]);
  t.ok(at.finality.seeksJustified(), 'they look like a quorum for a higher block');
  t.equal(await offer(at, theirs), 'outvoted');
  t.equal(at.blockchain.tip().height, 3);
});

t.test('a vote leaves after its note, and the note follows it', async (t) => {
  const at = await node();
  const noteOf = () =>
    decodeNote(
      at.files.read(NOTE)!,
      { genesis: blocksOf(at).checkpoint(1).id, voter: miners[0]!.publicKey },
      scheme,
    );
  t.equal(noteOf().link.target, 0, 'made at the beginning of the feature');
  await mine(at);
  t.equal(at.sent.length, 0, 'it listens for a round first');
  at.later();
  await at.receive(votesFor(at, 2, [miners[1]!]));
  const own = noteOf().vote!;
  t.equal(own.target.height, 2);
  t.ok(at.sent.some((message) => latin1(message).includes(latin1(encodeVote(own, scheme)))));
});

t.test('a damaged note shows at the start, long before the feature', async (t) => {
  const files = memoryFiles();
  files.replace(NOTE, new Uint8Array(40));
  const at = await chainWith({ ...WITH_FINALITY, preActivatedFeatures: new Map() });
  const finality = (votes: boolean) =>
    new NodeFinality(
      { isPoa: true, maxRollback: 2, roundMs: LENGTH_MS, notePath: NOTE, votes, waits: true },
      {
        scheme,
        blockchain: at.blockchain,
        rules: { ...WITH_FINALITY, preActivatedFeatures: new Map() },
        store: at.store,
        verifier,
        clock: at.clock,
        log: quiet,
        files: files as Files,
        owner: miners[0]!,
      },
    );
  t.throws(() => finality(true).start(), { name: 'StartError', message: /checksum is wrong/ });
  t.doesNotThrow(() => finality(false).start(), 'a node that does not vote has no use for it');
});

t.test('a key without a note begins with the feature', async (t) => {
  const files = memoryFiles();
  const at = await chainWith();
  await mine(at);
  const late = await node(miners[0]!, files);
  t.ok(late.files.read(NOTE)!.length > 0, 'it begins with the feature');
  t.ok(equal(blocksOf(at).checkpoint(1).id, blocksOf(late).checkpoint(1).id));
});
