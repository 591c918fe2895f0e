// The rules of finality one by one (finality.md); test/models shows what they do together.
import fc from 'fast-check';
import t from 'tap';
import { mayMakeBlock, noteAfterLoss } from '../../src/finality/rules.ts';
import {
  contradict,
  type IdentifiedLink,
  makesSourceFinal,
  mayCarry,
  mayVote,
} from '../../src/finality/votes/links.ts';
import {
  decidingSets,
  quorum,
  setsAfter,
  type VoterSets,
} from '../../src/finality/votes/voter-sets.ts';

t.test('quorums', async (t) => {
  t.strictSame([1, 2, 3, 4, 5, 6, 7, 10].map(quorum), [1, 2, 3, 3, 4, 5, 5, 7]);
  for (let n = 1; n <= 1000; n++) {
    const liars = Math.floor((n - 1) / 3);
    t.ok(n - quorum(n) >= 0 && 2 * quorum(n) - n > liars, `${n} voters`);
    t.ok(n - liars >= quorum(n), `${n} voters go on without ${liars}`);
  }
});

t.test('locks, sources, final blocks', async (t) => {
  const last = { source: 3, target: 5 };
  t.ok(mayVote(last, { source: 3, target: 6 }));
  t.notOk(mayVote(last, { source: 3, target: 5 }));
  t.notOk(mayVote(last, { source: 2, target: 6 }));
  t.notOk(mayCarry(3, 3));
  t.ok(mayCarry(3, 4));
  t.ok(makesSourceFinal({ source: 3, target: 4 }));
  t.notOk(makesSourceFinal({ source: 3, target: 5 }));
});

t.test('votes that the locks permit never contradict each other', async (t) => {
  const link = fc
    .record({ source: fc.nat(8), target: fc.nat(9), targetId: fc.constantFrom('a', 'b') })
    .filter(({ source, target }) => source < target);
  fc.assert(
    fc.property(fc.array(link), (offered) => {
      const cast: IdentifiedLink[] = [];
      for (const one of offered)
        if (mayVote(cast.at(-1) ?? { source: 0, target: 0 }, one)) cast.push(one);
      return cast.every((a, i) => cast.every((b, k) => i === k || !contradict(a, b)));
    }),
  );
  const inner = { source: 3, target: 5, targetId: 'a' };
  t.ok(contradict(inner, { source: 4, target: 5, targetId: 'b' }));
  t.notOk(contradict(inner, inner));
  t.ok(contradict(inner, { source: 2, target: 6, targetId: 'b' }));
  t.ok(contradict({ source: 2, target: 6, targetId: 'b' }, inner));
  t.notOk(contradict(inner, { source: 3, target: 6, targetId: 'b' }));
});

t.test('a change of voters', async (t) => {
  const step = (sets: VoterSets<string>, height: number, entitled: string, provenFinal?: number) =>
    setsAfter(sets, { height, entitled, provenFinal }, (a, b) => a === b);
  const start = { change: 0, current: 'old', next: undefined };
  t.equal(step(start, 5, 'old', 4), start);
  const going = step(start, 5, 'new');
  t.strictSame(going, { change: 0, current: 'old', next: { voters: 'new', since: 5 } });
  t.strictSame(decidingSets(start), ['old']);
  t.strictSame(decidingSets(going), ['old', 'new']);
  t.equal(step(going, 6, 'old'), going, 'it is not given up');
  t.equal(step(going, 6, 'third'), going, 'nor replaced');
  t.equal(step(going, 7, 'new', 4), going, 'a final block below does not complete it');
  const done = { change: 1, current: 'new', next: undefined };
  t.strictSame(
    step(going, 7, 'third', 5),
    done,
    'the next change begins after the block that completes one',
  );
});

t.test('waiting', async (t) => {
  const made = {
    height: 13,
    final: 10,
    maxRollback: 2,
    isQuorumConnected: true,
    hasQuorumVoted: true,
    carriesJustification: true,
  };
  t.ok(mayMakeBlock(made));
  t.notOk(mayMakeBlock({ ...made, isQuorumConnected: false }));
  t.ok(mayMakeBlock({ ...made, hasQuorumVoted: false }));
  t.ok(mayMakeBlock({ ...made, carriesJustification: false }));
  t.notOk(mayMakeBlock({ ...made, hasQuorumVoted: false, carriesJustification: false }));
  t.ok(mayMakeBlock({ ...made, height: 12, isQuorumConnected: false, hasQuorumVoted: false }));
});

t.test('a lost note', async (t) => {
  const loss = { finalAtStart: 10, maxRollback: 2 };
  t.equal(noteAfterLoss(loss, 14), undefined);
  t.strictSame(noteAfterLoss(loss, 15), { source: 15, target: 16 });
});
