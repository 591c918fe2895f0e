// How many messages the votes of many voters take (finality.md#spread).
import t from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import { GATHER_MS, VoteOutbox } from '../../../src/finality/spread/vote-outbox.ts';
import type { SignedVote } from '../../../src/finality/votes/vote.ts';
import { decodeVotes, VOTES_OF_MESSAGE_MAX } from '../../../src/finality/votes/votes-message.ts';
import { votesBudget } from '../../../src/network/messages/message-budgets.ts';
import { fakeClock } from '../../node/fake-clock.ts';
import { setOf } from '../network/toy-chain.ts';
import { ToyEngine, voteOf } from '../toy-engine.ts';
import { scheme } from '../vectors.ts';

function fresh() {
  const toy = new ToyEngine(setOf(1, 2, 3, 4));
  const clock = fakeClock(1_700_000_000_000);
  const inboxes = [1, 2, 3].map(() => [] as SignedVote[][]);
  const peers = inboxes.map((inbox) => ({
    send: (message: Uint8Array) => void inbox.push(decodeVotes(message, scheme)),
  }));
  const outbox = new VoteOutbox<(typeof peers)[0]>({ scheme, clock, peers: () => peers });
  const vote = voteOf(2, toy.tracked(toy.root), toy.root, {
    target: { height: 9, id: toy.root.id },
  });
  const votes = (count: number): SignedVote[] =>
    Array.from({ length: count }, (_, i) => ({
      ...vote,
      target: { height: 9 + i, id: new Uint8Array(32).fill(i) },
    }));
  return { clock, outbox, peers, inboxes, votes };
}

t.test('a hundred voters in rounds of a second stay inside the budget', async (t) => {
  const { clock, outbox, peers, inboxes, votes } = fresh();
  const seconds = 5;
  for (let round = 0; round < seconds; round++) {
    for (const vote of votes(100)) {
      outbox.add([vote], peers[0]!);
      await clock.advance(10);
    }
  }
  await clock.advance(GATHER_MS);
  const [from, other] = inboxes;
  t.equal(from!.length, 0, 'nothing goes back');
  t.equal(other!.flat().length, 100 * seconds, 'all of them arrive');
  const perSecond = other!.length / seconds;
  t.ok(perSecond <= votesBudget.pace!.messages / 4, `${perSecond} messages in a second`);
});

t.test('the first leaves at once, the next ones together', async (t) => {
  const { clock, outbox, peers, inboxes, votes } = fresh();
  const [a, b, c] = votes(3) as [SignedVote, SignedVote, SignedVote];
  const idsOf = (inbox: readonly SignedVote[][]) =>
    inbox.map((message) => message.map(({ target }) => latin1(target.id)));
  const name = ({ target }: SignedVote) => latin1(target.id);
  outbox.add([a]);
  t.strictSame(idsOf(inboxes[2]!), [[name(a)]]);
  outbox.add([b], peers[0]!);
  outbox.add([c], peers[1]!);
  t.equal(inboxes[2]!.length, 1);
  await clock.advance(GATHER_MS);
  t.strictSame(idsOf(inboxes[0]!), [[name(a)], [name(c)]]);
  t.strictSame(idsOf(inboxes[1]!), [[name(a)], [name(b)]]);
  t.strictSame(idsOf(inboxes[2]!), [[name(a)], [name(b), name(c)]]);
  await clock.advance(GATHER_MS);
  outbox.add([b]);
  t.equal(inboxes[2]!.length, 3, 'after a pause at once again');
  outbox.add(votes(VOTES_OF_MESSAGE_MAX + 1));
  t.strictSame(
    inboxes[2]!.slice(3).map(({ length }) => length),
    [VOTES_OF_MESSAGE_MAX, 1],
    'a message has no more than the limit',
  );
  outbox.add([a]);
  outbox.stop();
  await clock.advance(GATHER_MS);
  t.equal(inboxes[2]!.length, 5);
  t.equal(clock.timers(), 0);
});
