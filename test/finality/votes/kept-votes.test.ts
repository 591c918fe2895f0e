// Contradictions among many votes, found by a look at few of them.
import t from 'tap';
import { areContradictory } from '../../../src/finality/votes/evidence.ts';
import { KeptVotes } from '../../../src/finality/votes/kept-votes.ts';
import { SortedHeights } from '../../../src/finality/votes/sorted-heights.ts';
import type { SignedVote } from '../../../src/finality/votes/vote.ts';
import { Dice } from '../../system/sim/random.ts';

const HASH = new Uint8Array(32);
const SIGNATURE = new Uint8Array(64);

const vote = (voter: number, source: number, target: number, fill = 0): SignedVote => ({
  genesis: HASH,
  ruleHash: HASH,
  source: { height: source, id: HASH },
  target: { height: target, id: new Uint8Array(32).fill(fill) },
  voter: Uint8Array.of(voter),
  signature: SIGNATURE,
});

t.test('the first contradiction of a voter is found as by a look at all votes', async (t) => {
  let found = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const dice = new Dice(seed);
    const kept = new KeptVotes();
    const all: SignedVote[] = [];
    for (let i = 0; i < 40; i++) {
      const target = 2 + dice.below(60);
      // Mostly as of an honest voter, so that long sequences come about.
      const source = dice.happens(0.97)
        ? 1 + Math.floor((target - 1) / 2)
        : 1 + dice.below(target - 1);
      const next = vote(1, source, target, dice.happens(0.98) ? 0 : 1);
      const isAbove = dice.happens(0.05);
      if (kept.isKnown(next, isAbove)) continue;
      const contradiction = kept.add(next, isAbove);
      const expected = all.some((one) => areContradictory(one, next));
      t.equal(contradiction !== undefined, expected, `seed ${seed}, vote ${i}`);
      all.push(next);
      if (!expected) continue;
      t.ok(areContradictory(...contradiction!));
      found += 1;
      break;
    }
  }
  t.ok(found > 50, `${found} contradictions`);
});

t.test('the newest of many voters, and what is left below them', async (t) => {
  const kept = new KeptVotes(100);
  for (let height = 2; height < 60; height++) {
    for (const voter of [1, 2, 3]) kept.add(vote(voter, 1, height), false);
  }
  const heightsOf = (votes: readonly SignedVote[]) => votes.map(({ target }) => target.height);
  t.strictSame(heightsOf(kept.newest(7)), [59, 59, 59, 58, 58, 58, 57]);
  t.equal(kept.newest(1_000).length, 99, 'a height goes as a whole');
  t.ok(kept.isTooLow(26) === false, 'there is room for one');
  kept.dropTo(50);
  t.equal(kept.newest(1_000).length, 27);
  t.strictSame(heightsOf(kept.of('\u0002')), [51, 52, 53, 54, 55, 56, 57, 58, 59]);
});

t.test('sorted heights', async (t) => {
  const dice = new Dice(7);
  const heights = new SortedHeights();
  const model = new Set<number>();
  for (let i = 0; i < 500; i++) {
    const height = dice.below(40);
    if (dice.happens(0.6)) {
      heights.add(height);
      model.add(height);
    } else {
      heights.delete(height);
      model.delete(height);
    }
    const sorted = [...model].sort((a, b) => a - b);
    t.strictSame([...heights.descending()], [...sorted].reverse());
    t.equal(heights.lowest(), sorted[0]);
    const below = sorted.filter((one) => one < height).slice(-1);
    const above = sorted.filter((one) => one > height).slice(0, 1);
    t.strictSame(heights.around(height), [...below, ...above]);
  }
});
