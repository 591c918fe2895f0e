import t from 'tap';
import {
  ASKED_AGAIN_MAX,
  REFUSED_MAX,
  REFUSED_OF_ONE_MAX,
  Refused,
} from '../../../src/network/gossip/refused.ts';

const nothing = (): boolean => false;
const taken = (refused: Refused<string>, isOnItsWay = nothing) =>
  Object.fromEntries(refused.take(isOnItsWay));

t.test('what was refused is asked for after the next block, and a few times only', async (t) => {
  const refused = new Refused<string>();
  refused.note('x', ['a', 'b']);
  t.ok(refused.has('x', 'a'));
  t.ok(refused.has('x', 'b'));
  t.notOk(refused.has('x', 'c'));
  for (let i = 0; i < ASKED_AGAIN_MAX; i++) {
    t.same(taken(refused), { a: ['x'], b: ['x'] });
    refused.note('x', ['a']);
  }
  t.same(taken(refused), {});
  t.notOk(refused.has('x', 'a'));
});

t.test('what did not come is forgotten, and what is on its way is not', async (t) => {
  const refused = new Refused<string>();
  refused.note('x', ['a']);
  taken(refused);
  t.same(
    taken(refused, () => true),
    {},
  );
  t.ok(refused.has('x', 'a'));
  t.same(taken(refused), {});
  t.notOk(refused.has('x', 'a'));
});

t.test('what came, and peers that leave', async (t) => {
  const refused = new Refused<string>();
  refused.note('x', ['a', 'b']);
  refused.note('y', ['a']);
  refused.note('z', ['a']);
  refused.forget('z');
  refused.leave('a');
  t.same(taken(refused), { b: ['x'] });
});

t.test('the memory is bounded, for each peer and in all', async (t) => {
  const refused = new Refused<string>();
  const fill = (peer: string): void => {
    for (let i = 0; i < 2 * REFUSED_OF_ONE_MAX; i++) refused.note(`${peer} ${i}`, [peer]);
  };
  fill('a');
  t.equal(taken(refused)['a']?.length, REFUSED_OF_ONE_MAX);
  refused.forget('a 0');
  refused.note('a more', ['a']);
  t.ok(refused.has('a more', 'a'), 'there is room again');
  const peers = 2 + REFUSED_MAX / REFUSED_OF_ONE_MAX;
  for (let peer = 0; peer < peers; peer++) fill(`peer ${peer}`);
  const counted = taken(refused, () => true);
  const all = new Set(Object.values(counted).flat());
  t.equal(all.size, REFUSED_MAX - REFUSED_OF_ONE_MAX + 1, 'beside those that were asked for');
});

t.test('a peer whose share is used up takes nothing from others', (t) => {
  const refused = new Refused<string>();
  for (let i = 0; i < REFUSED_OF_ONE_MAX; i++) refused.note(`of a ${i}`, ['a']);
  refused.note('x', ['a', 'b']);
  t.ok(refused.has('x', 'b'));
  refused.note('y', ['a']);
  t.notOk(refused.has('y', 'a'));
  t.end();
});

t.test('few of the peers that have one are asked again', async (t) => {
  const refused = new Refused<number>();
  refused.note('x', [1, 2, 3]);
  refused.note('x', [4, 5, 6]);
  t.strictSame([...refused.take(nothing).keys()], [4, 5, 6, 1]);
});
