/** No address takes the connections of another. */
import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import t from 'tap';
import { openHostDoor } from '../../../src/adapters/http/host-door.ts';
import type { HttpRoute } from '../../../src/base/ports/http.ts';
import { http } from '../../http-listener.ts';

const OF_HOST = 3;
const HOSTILE = '127.0.0.2';
const GOOD = '127.0.0.3';

const route: HttpRoute = {
  method: 'GET',
  pattern: '/text',
  maxBody: 0,
  keep: [],
  handle: () => ({ status: 200, type: 'text/plain', body: 'x'.repeat(100_000) }),
};

t.test('connections of one address', { skip: process.platform !== 'linux' }, async (t) => {
  const maxConnectionsOfHost = () => OF_HOST;
  const options = { host: '127.0.0.1', port: 0, cors: false, maxConnectionsOfHost };
  const server = await http.listen([route], options);
  const sockets: Socket[] = [];
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await server.close();
  });
  async function open(): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port: server.port, localAddress: HOSTILE });
    socket.on('error', () => {}).resume();
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }
  const answerTo = (localAddress: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const path = {
        host: '127.0.0.1',
        port: server.port,
        path: '/text',
        localAddress,
        agent: false,
      };
      get(path, (answer) => {
        let length = 0;
        answer.on('data', (piece: Buffer) => {
          length += piece.length;
        });
        answer.once('end', () => resolve(length));
      }).once('error', reject);
    });

  for (let i = 0; i < OF_HOST; i++) await open();
  for (let i = 0; i < 20; i++) {
    const surplus = await open();
    if (!surplus.closed) await once(surplus, 'close');
  }
  t.equal(sockets.filter(({ closed }) => !closed).length, OF_HOST);
  t.equal(await answerTo(GOOD), 100_000, 'another address is served');
  await t.rejects(answerTo(HOSTILE));
  for (const socket of sockets) socket.destroy();
  for (;;) {
    const length = await answerTo(HOSTILE).catch(() => undefined);
    if (length === undefined) continue;
    t.equal(length, 100_000, 'whose connections have ended may have others');
    break;
  }
});

t.test('addresses of version 6 are told apart', async (t) => {
  const server = createServer((socket) => socket.on('error', () => {}).end('x'));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port: serverPort } = server.address() as AddressInfo;
  // No test has addresses of the Internet.
  const addresses = ['2001:db8::a', '2001:db8::b'];
  const sockets = Socket.prototype as unknown as { _getpeername: () => { address?: string } };
  t.capture(sockets, '_getpeername', () => ({ address: addresses.shift() ?? '' }));
  const limits = { connectionsMax: 100, connectionsOfHost: () => 1 };
  const door = await openHostDoor({ host: '127.0.0.1', port: 0, serverPort, ...limits });
  t.teardown(async () => {
    await door.close();
    server.close();
  });
  // Each stays open at this end.
  for (const _ of [...addresses]) {
    const socket = connect({ port: door.port, host: '127.0.0.1', allowHalfOpen: true });
    t.teardown(() => socket.destroy());
    const ended = new Promise((resolve) => socket.on('error', resolve).once('end', resolve));
    const answered = new Promise((resolve) => socket.once('data', resolve));
    t.type(await Promise.race([answered, ended]), Buffer);
  }
});

t.test('who does not read keeps no place', async (t) => {
  const sockets: Socket[] = [];
  // More than the system keeps for a client.
  const answer = Buffer.alloc(32 * 1024 * 1024);
  let isLong = true;
  let answered = 0;
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {}).resume();
    if (!isLong) {
      socket.end('short');
      return;
    }
    answered++;
    socket.write(answer);
    // As the native server ends a client that does not read.
    socket.setTimeout(100, () => socket.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port: serverPort } = server.address() as AddressInfo;
  const limits = { connectionsMax: 100, connectionsOfHost: () => OF_HOST, unreadMs: 100 };
  const door = await openHostDoor({ host: '127.0.0.1', port: 0, serverPort, ...limits });
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await door.close();
    server.close();
  });
  function open(): Socket {
    const socket = connect(door.port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    return socket;
  }
  for (let i = 0; i < OF_HOST; i++) await once(open().pause(), 'connect');
  while (answered < OF_HOST) await new Promise(setImmediate);
  isLong = false;
  for (;;) {
    const last = open();
    const [piece] = await Promise.race([once(last, 'data'), once(last, 'close')]);
    if (!Buffer.isBuffer(piece)) continue;
    t.equal(piece.toString(), 'short', 'another connection has its place');
    break;
  }
});
