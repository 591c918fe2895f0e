// Which of two siblings stays, under both kinds of consensus.
import t from 'tap';
import type { Header } from '../../../src/block/header.ts';
import { standingOf } from '../../../src/chain/fork/chain-choice.ts';
import { filled } from '../../block/sample.ts';

const PARENT = 7;

/** A child of one parent, with a score that all have. */
const child = (id: number, timestamp: number): Header =>
  ({ signature: filled(64, id), reference: filled(64, 0), timestamp }) as Header;

const standing = (kind: 'poa' | 'pos', candidate: Header, head: Header) =>
  standingOf(
    { ancestor: PARENT, first: candidate, header: candidate, score: 3n },
    { height: PARENT + 1, id: head.signature, header: head, score: 3n },
    { kind, hasEnded: () => false, score: () => 1n },
    10_000,
  );

t.test('under proof of stake no id takes the place of an earlier block', async (t) => {
  const [first, ground] = [child(200, 6_000), child(1, 9_000)];
  t.equal(standing('pos', ground, first), 'not-better', 'signed until its id was low');
  t.equal(standing('pos', first, ground), 'better', 'where the later one came first');
  t.equal(standing('pos', child(1, 6_000), first), 'better', 'two of one time');
});

t.test('under proof of authority both are of one miner, and the lower id stays', async (t) => {
  const [one, other] = [child(200, 6_000), child(1, 9_000)];
  t.equal(standing('poa', other, one), 'better');
  t.equal(standing('poa', one, other), 'not-better');
});
