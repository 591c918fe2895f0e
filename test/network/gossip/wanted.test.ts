import t from 'tap';
import { WANTED_MAX, WANTED_OF_ONE_MAX, Wanted } from '../../../src/network/gossip/wanted.ts';

function joined(...names: string[]): Wanted<string> {
  const wanted = new Wanted<string>();
  for (const name of names) wanted.join(name);
  return wanted;
}

const hashes = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, i) => `${from + i}`);

t.test('each is asked of one peer, and of the next when that fails', async (t) => {
  const wanted = joined('a', 'b', 'c');
  t.strictSame(wanted.announced('a', ['x', 'y']), ['x', 'y']);
  t.strictSame(wanted.announced('b', ['y', 'z']), ['z'], 'y is being asked for');
  t.strictSame(wanted.announced('c', ['y']), []);
  t.ok(wanted.has('y'));
  t.strictSame(wanted.arrived('y'), ['a', 'b', 'c'], 'who has it');
  t.notOk(wanted.has('y'));
  t.strictSame(wanted.announced('a', ['y']), ['y']);
  for (const name of ['b', 'c']) wanted.announced(name, ['y']);
  t.ok(wanted.arrived('x'));
  t.notOk(wanted.arrived('x'), 'a second time');
  t.strictSame([...wanted.unanswered('a', ['y'])], [['b', ['y']]]);
  t.strictSame([...wanted.unanswered('b', ['y', 'z'])], [['c', ['y']]], 'nobody else has z');
  t.notOk(wanted.arrived('z'), 'so it is forgotten');
  t.strictSame([...wanted.unanswered('c', ['y'])], []);
  t.strictSame(wanted.announced('a', ['y']), ['y'], 'and may be announced again');
});

t.test('one more is asked where the last one asked is late', async (t) => {
  const wanted = joined('a', 'b', 'c', 'd');
  wanted.announced('a', ['x', 'y']);
  for (const name of ['b', 'c']) wanted.announced(name, ['x']);
  t.strictSame([...wanted.late('a', ['x', 'y'])], [['b', ['x']]], 'nobody else has y');
  t.strictSame([...wanted.late('a', ['x'])], [], 'once');
  t.strictSame(wanted.announced('d', ['x', 'y']), ['y'], 'whoever has it is asked at once');
  t.strictSame([...wanted.unanswered('a', ['x', 'y'])], [], 'others are being asked');
  t.strictSame([...wanted.late('b', ['x'])], [['c', ['x']]]);
  t.strictSame([...wanted.unanswered('b', ['x'])], [], 'the last one asked is not late');
  t.strictSame([...wanted.unanswered('c', ['x'])], [['d', ['x']]]);
  t.strictSame(wanted.arrived('x'), ['d']);
  t.strictSame([...wanted.unanswered('d', ['x', 'y'])], []);
  t.notOk(wanted.has('y'));
});

t.test('one that fails at once does not hide that the others are late', async (t) => {
  const wanted = joined('a', 'b', 'c', 'd');
  for (const name of ['a', 'b', 'c']) wanted.announced(name, ['x']);
  t.strictSame([...wanted.late('a', ['x'])], [['b', ['x']]]);
  t.strictSame([...wanted.unanswered('b', ['x'])], [['c', ['x']]]);
  t.strictSame([...wanted.unanswered('c', ['x'])], []);
  t.ok(wanted.has('x'), 'the first one may still send it');
  t.strictSame(wanted.announced('d', ['x']), ['x']);
});

t.test('a peer that has left is not asked', async (t) => {
  const wanted = joined('a', 'b', 'c');
  for (const name of ['a', 'b', 'c']) wanted.announced(name, ['x']);
  wanted.leave('b');
  t.strictSame(wanted.announced('b', ['other']), []);
  wanted.leave('a');
  t.strictSame([...wanted.unanswered('a', ['x'])], [['c', ['x']]]);
});

t.test('what is asked for is bounded', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const wanted = joined(...names);
  t.equal(wanted.announced('a', hashes(WANTED_OF_ONE_MAX + 1)).length, WANTED_OF_ONE_MAX);
  t.equal(wanted.announced('a', ['one more']).length, 0);
  wanted.arrived('0');
  wanted.done('a', 1);
  t.strictSame(wanted.announced('a', ['one more']), ['one more'], 'when one has come');

  for (const [i, name] of names.entries()) {
    wanted.announced(name, hashes(WANTED_OF_ONE_MAX, i * WANTED_OF_ONE_MAX));
  }
  let count = 0;
  for (const hash of [...hashes(WANTED_OF_ONE_MAX * names.length), 'one more']) {
    if (wanted.arrived(hash)) count += 1;
  }
  t.equal(count, WANTED_MAX, 'in all');
});

t.test('what was handed on counts for the next peer', async (t) => {
  const wanted = joined('a', 'b');
  const all = hashes(WANTED_OF_ONE_MAX);
  wanted.announced('a', all);
  wanted.announced('b', all);
  wanted.done('a', all.length);
  wanted.unanswered('a', all);
  t.strictSame(wanted.announced('b', ['more']), []);
  t.strictSame(wanted.announced('a', ['more']), ['more']);
});
