import t from 'tap';
import {
  ARRIVING_MAX,
  ARRIVING_OF_ONE_MAX,
  type Arrival,
  Arrivals,
} from '../../../src/network/gossip/arrivals.ts';

function arrival(author: string): Arrival<string> {
  return { compact: {} as never, message: new Uint8Array(0), author, sources: [author] };
}

t.test('whoever announces the same header is one more to ask', async (t) => {
  const arrivals = new Arrivals<string>();
  const first = arrival('a');
  t.notOk(arrivals.join('x', 'a'));
  arrivals.add('x', first);
  for (const name of ['b', 'a', 'b', 'c', 'd', 'e', 'f']) t.ok(arrivals.join('x', name));
  t.strictSame(first.sources, ['a', 'b', 'c', 'd'], 'each once, and no more than four');
  t.notOk(arrivals.join('y', 'b'), 'another header is another arrival');
  arrivals.remove('x');
  t.notOk(arrivals.join('x', 'b'));
});

t.test('bounded in all and for each peer', async (t) => {
  const arrivals = new Arrivals<string>();
  for (let i = 0; i < ARRIVING_OF_ONE_MAX; i++) {
    t.ok(arrivals.hasRoom('a'));
    arrivals.add(`a${i}`, arrival('a'));
  }
  t.notOk(arrivals.hasRoom('a'));
  t.ok(arrivals.join('a0', 'b'));
  for (let i = ARRIVING_OF_ONE_MAX; i < ARRIVING_MAX; i++) {
    t.ok(arrivals.hasRoom(`${i}`));
    arrivals.add(`${i}`, arrival(`${i}`));
  }
  t.notOk(arrivals.hasRoom('b'));
  arrivals.remove('a0');
  t.ok(arrivals.hasRoom('b'));
});
