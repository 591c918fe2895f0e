// Connections on Node's own server whose time is over: the clock jumps, since nobody waits for it.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { nodeHttp } from '../../../../src/adapters/http/listener.ts';
import type { HttpRoute, HttpStreamClient } from '../../../../src/base/ports/http.ts';

const REQUEST = 'GET /text HTTP/1.1\r\nhost: a\r\n\r\n';
/** Longer than any client may take. */
const LATER_MS = 60_000;
/** The time between two looks at all connections, and some more. */
const LOOK_MS = 1_200;

function route(pattern: string, reply: ReturnType<HttpRoute['handle']>): HttpRoute {
  return { method: 'GET', pattern, maxBody: 0, keep: [], handle: () => reply };
}

/** A server, a client of it, and a clock that can be set forward. */
async function served(t: Test, route: HttpRoute) {
  const now = performance.now.bind(performance);
  let ahead = 0;
  performance.now = () => now() + ahead;
  const server = await nodeHttp.listen([route], { host: '127.0.0.1', port: 0, cors: false });
  const sockets: Socket[] = [];
  t.teardown(async () => {
    performance.now = now;
    for (const socket of sockets) socket.destroy();
    await server.close();
  });
  const open = async (): Promise<Socket> => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  const jump = (): void => {
    ahead += LATER_MS;
  };
  return { open, jump };
}

/** The next piece that comes, or that the connection has ended. */
const next = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    socket.once('data', (piece) => resolve(piece.toString()));
    socket.once('close', () => resolve('ended'));
  });

t.test('what arrived while the process stood still is served', async (t) => {
  const { open, jump } = await served(
    t,
    route('/text', { status: 200, type: 'text/plain', body: 'x' }),
  );
  const client = await open();
  client.write(REQUEST);
  t.match(await next(client), /200 OK/);
  const answer = next(client);
  await new Promise(setImmediate);
  client.write(REQUEST);
  // The look is due when the process goes on, and comes before the sockets are read.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
  jump();
  t.match(await answer, /200 OK/);
});

t.test('a stream that has nothing to say is kept', async (t) => {
  const begun = Promise.withResolvers<HttpStreamClient>();
  const stream = { filler: '\n', begin: begun.resolve, ready: () => {}, closed: () => {} };
  const { open, jump } = await served(
    t,
    route('/text', { status: 200, type: 'text/plain', body: 'first', stream }),
  );
  const client = await open();
  client.write(REQUEST);
  t.match(await next(client), /first/);
  const idle = await open();
  idle.write(REQUEST.replace('text', 'nothing'));
  t.match(await next(idle), /404/);
  const second = next(client);
  jump();
  t.equal(await next(idle), 'ended');
  (await begun.promise).write('second');
  t.match(await second, /second/, 'only a connection without a request has ended');
});
