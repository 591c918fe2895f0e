import t from 'tap';
import { createUnauthenticatedConnections } from '../../src/base/unauthenticated-connections.ts';

const KEPT = '2001:db8::5';

function setUp() {
  const closed: string[] = [];
  const connections = createUnauthenticatedConnections<string>({
    ofOneHost: 2,
    inAll: 5,
    isKept: (host) => host === KEPT,
  });
  const add = (name: string, host: string): void =>
    connections.add(name, host, () => closed.push(name));
  return { add, closed, connections };
}

t.test('the oldest of a client makes room', async (t) => {
  const { add, closed, connections } = setUp();
  for (const name of ['a', 'b', 'c']) add(name, '10.0.0.1');
  t.strictSame(closed, ['a']);
  connections.remove('b');
  add('d', '10.0.0.1');
  t.strictSame(closed, ['a'], 'what has authenticated takes no place');
});

t.test('addresses of one line are one client', async (t) => {
  const { add, closed } = setUp();
  add('kept', KEPT);
  for (const n of [1, 2, 3]) add(`line ${n}`, `2001:db8::${n}`);
  t.strictSame(closed, ['line 1'], 'a host of the configuration counts alone');
  for (const n of [1, 2, 3]) add(`other ${n}`, `10.0.0.${n}`);
  t.strictSame(closed, ['line 1', 'line 2'], 'the client with the most loses one');
});

t.test('a connection asks once whether its host is kept', async (t) => {
  let asked = 0;
  const isKept = (): boolean => {
    asked++;
    return false;
  };
  const connections = createUnauthenticatedConnections<number>({ ofOneHost: 2, inAll: 50, isKept });
  for (let n = 0; n < 100; n++) connections.add(n, `10.0.0.${n}`, () => {});
  t.equal(asked, 100, 'also where all places are taken');
});

t.test('hosts of the configuration are closed last', async (t) => {
  const { add, closed } = setUp();
  for (const name of ['kept 1', 'kept 2']) add(name, KEPT);
  for (const n of [1, 2, 3, 4]) add(`${n}`, `10.0.0.${n}`);
  t.strictSame(closed, ['1']);
});
