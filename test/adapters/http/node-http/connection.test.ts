// How long a connection waits for its client.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { type Answer, Connection } from '../../../../src/adapters/http/node-http/connection.ts';

async function connected(t: Test) {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  t.teardown(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  const connection = new Connection(socket, '');
  /** Whether it is still there when so much time has gone by. */
  const lives = (seconds: number): boolean => {
    connection.sweep(performance.now() + seconds * 1000);
    return !socket.destroyed;
  };
  return { connection, lives };
}

function answer(of: Partial<Answer> = {}) {
  const seen = { aborted: 0 };
  const abort = (): void => void seen.aborted++;
  return { seen, one: { isEnded: false, isHeld: false, isPending: true, abort, ...of } };
}

t.test('a head has ten seconds', async (t) => {
  const { lives } = await connected(t);
  t.ok(lives(9));
  t.notOk(lives(11));
});

t.test('a handler has as long as it needs', async (t) => {
  const { connection, lives } = await connected(t);
  const { one, seen } = answer();
  connection.begin(one);
  t.ok(lives(1000));
  connection.close();
  t.equal(seen.aborted, 1, 'it learns that the client is gone');
});

t.test('a body has to bring something', async (t) => {
  const { connection, lives } = await connected(t);
  connection.begin(answer().one);
  connection.bodyBegins();
  t.ok(lives(9));
  connection.bodyArrives(1000);
  t.ok(lives(9));
  connection.bodyEnds();
  t.ok(lives(1000), 'then the handler has it');
  const slow = await connected(t);
  slow.connection.begin(answer().one);
  slow.connection.bodyBegins();
  slow.connection.bodyArrives(1000);
  t.notOk(slow.lives(11));
});

t.test('a client has to take its answer', async (t) => {
  const { connection, lives } = await connected(t);
  const { one, seen } = answer();
  connection.begin(one);
  connection.progress();
  t.ok(lives(9));
  t.notOk(lives(11));
  t.equal(seen.aborted, 1);
});

t.test('after the answer the next head has its time', async (t) => {
  const { connection, lives } = await connected(t);
  const { one, seen } = answer({ isEnded: true });
  connection.begin(one);
  connection.answered(one, 0);
  t.ok(lives(9));
  t.notOk(lives(11));
  t.equal(seen.aborted, 0);
});

t.test('a request waits for a pending answer a turn, then the connection ends', async (t) => {
  const { connection, lives } = await connected(t);
  connection.begin(answer().one);
  connection.serve(() => t.fail('it is not served'));
  t.ok(lives(0));
  await new Promise(setImmediate);
  t.notOk(lives(0));
});

t.test('no more than a few of them wait', async (t) => {
  const { connection, lives } = await connected(t);
  connection.begin(answer().one);
  for (let i = 0; i < 16; i++) connection.serve(() => {});
  t.ok(lives(0));
  connection.serve(() => {});
  t.notOk(lives(0));
});

t.test('a connection that has been refused takes few more requests', async (t) => {
  const { connection, lives } = await connected(t);
  connection.refuse('HTTP/1.1 400 Bad Request\r\n\r\n');
  const work = (): void => void t.fail('it is served');
  connection.serve(work);
  t.ok(lives(0), 'its client still gets the answer');
  for (let i = 0; i < 100; i++) connection.serve(work);
  t.notOk(lives(0));
});
