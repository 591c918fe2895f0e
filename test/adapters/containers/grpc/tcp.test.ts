// One port for all containers: none takes the connections of another.
import { once } from 'node:events';
import { type ClientHttp2Session, connect as http2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import type { GrpcContainer } from '../../../../src/adapters/containers/grpc/container.ts';
import type { GrpcConnection } from '../../../../src/adapters/containers/grpc/listener.ts';
import { Connections } from '../../../../src/adapters/containers/grpc/tcp.ts';
import { watchTraffic } from '../../../../src/adapters/containers/grpc/traffic.ts';
import { clientOf } from '../../../../src/base/ip-range.ts';
import { contractLimits as limits } from '../../../../src/base/limits/contract-limits.ts';
import { fakeClock } from '../../../node/fake-clock.ts';
import { connectionId, opened, ownNetwork, patient, translated } from './opened.ts';
import { addressOf, sdkClient } from './sdk-client.ts';

const listen = { kind: 'tcp', host: '127.0.0.1', port: 0 } as const;

t.test('a container has so many connections', async (t) => {
  const { open } = await opened(t, { listen });
  const { session, token } = await open(undefined, translated);
  const connections: ClientHttp2Session[] = [];
  t.teardown(() => {
    for (const connection of connections) connection.destroy();
  });
  for (let i = 0; i < limits.connections.value + 4; i++) {
    const connection = http2(`http://${addressOf(session)}`);
    connection.on('error', () => {});
    connections.push(connection);
    const asked = connection.request({
      ':method': 'POST',
      ':path': '/wavesenterprise.UtilService/None',
      'content-type': 'application/grpc',
      authorization: token,
    });
    asked.on('error', () => {});
    asked.end();
    const answered = new Promise((resolve) => asked.once('close', resolve));
    await answered;
    if (i >= limits.connections.value && !connection.destroyed) await once(connection, 'close');
  }
  t.equal(connections.filter(({ destroyed }) => !destroyed).length, limits.connections.value);
});

t.test('who shows no token has few connections of an address', async (t) => {
  const { open } = await opened(t, { listen });
  const { session } = await open(undefined, translated);
  const [host, port] = addressOf(session).split(':');
  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let i = 0; i <= limits.strangers.value; i++) {
    const socket = connect(Number(port), host);
    socket.on('error', () => {}).resume();
    sockets.push(socket);
    await once(socket, 'connect');
  }
  const last = sockets.at(-1)!;
  if (!last.closed) await once(last, 'close');
  t.equal(sockets.filter(({ closed }) => !closed).length, limits.strangers.value);
});

t.test('who shows no token has few connections of all addresses', async (t) => {
  const { open } = await opened(t, { listen });
  const { session } = await open(undefined, translated);
  const [host, port] = addressOf(session).split(':');
  const most = limits.strangersInAll.value;
  const ofAddress = limits.strangers.value;
  const socketsOf = (last: number): Promise<Socket[]> =>
    Promise.all(
      Array.from({ length: last === 9 ? 1 : ofAddress }, async () => {
        const from = { host: host!, port: Number(port), localAddress: `127.0.0.${last}` };
        const socket = connect(from);
        t.teardown(() => socket.destroy());
        socket.on('error', () => {}).resume();
        await once(socket, 'connect');
        return socket;
      }),
    );
  const openOf = (sockets: readonly Socket[]): number =>
    sockets.filter(({ closed }) => !closed).length;
  const crowd: Socket[] = [];
  for (let last = 2; crowd.length < most; last++) crowd.push(...(await socketsOf(last)));
  const newcomer = await socketsOf(9);
  while (openOf(crowd) === most) await new Promise((resolve) => setTimeout(resolve, 10));
  t.equal(openOf(crowd), most - 1, 'one of the crowd has ended');
  t.equal(openOf(newcomer), 1, 'the newcomer stays');
});

t.test(
  'connections without a token count for the container in whose network they begin',
  async (t) => {
    const { open } = await opened(t, { listen });
    const { session, token } = await open(connectionId, ownNetwork);
    const client = sdkClient(addressOf(session));
    t.teardown(client.close);
    const ready = session.ready('container', patient);
    client.connect(connectionId, token);
    await ready;
    const [host, port] = addressOf(session).split(':');
    let isEnded = false;
    void session.ended.then(() => {
      isEnded = true;
    });
    while (!isEnded) {
      const sockets = Array.from({ length: 2 * limits.newConnections.value }, () =>
        connect(Number(port), host).on('error', () => {}),
      );
      await Promise.all(sockets.map((socket) => once(socket, 'connect').catch(() => undefined)));
      for (const socket of sockets) socket.destroy();
    }
    t.pass('it is ended');
  },
);

t.test('connections from a gateway without a token end nobody', async (t) => {
  const { open } = await opened(t, { listen });
  const { session, token } = await open(connectionId, translated);
  const client = sdkClient(addressOf(session));
  t.teardown(client.close);
  const ready = session.ready('container', patient);
  client.connect(connectionId, token);
  await ready;
  let isEnded = false;
  void session.ended.then(() => {
    isEnded = true;
  });
  const [host, port] = addressOf(session).split(':');
  const sockets = Array.from(
    { length: limits.strangers.value + 4 * limits.newConnections.value },
    () =>
      connect(Number(port), host)
        .on('error', () => {})
        .resume(),
  );
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  const closed = () => sockets.filter((socket) => socket.closed).length;
  // So each of them has been judged.
  while (!isEnded && closed() < 4 * limits.newConnections.value) await new Promise(setImmediate);
  t.equal(isEnded, false);
});

t.test('containers whose addresses begin alike keep nobody out', async (t) => {
  const connections = new Connections(fakeClock(0));
  const traffic = watchTraffic({ end: () => undefined }, fakeClock(0));
  t.teardown(() => traffic.stop());
  const addresses = ['2001:db8::a', '2001:db8::b'];
  for (const own of addresses) {
    const network = { gateway: '2001:db8::9', includes: (address: string) => address === own };
    connections.containers.set({} as GrpcContainer, { traffic, network });
  }
  const isRefused = (address: string): boolean => {
    let isDestroyed = false;
    const destroy = (): void => {
      isDestroyed = true;
    };
    const rest = { received: () => 0, ping() {}, destroy };
    connections.connected({ address, client: clientOf(address), ...rest });
    return isDestroyed;
  };
  // The last ones are foreign to the containers, and alike.
  for (const address of [...addresses, '2001:db8::9', '2001:db8::1:1']) {
    for (let i = 0; i < limits.strangers.value; i++) t.equal(isRefused(address), false);
    t.equal(isRefused(address), true);
  }
  t.equal(isRefused('2001:db8::1:2'), true);
});

t.test('bytes of connections that have ended count', async (t) => {
  const clock = fakeClock(0);
  const ends: string[] = [];
  const container: Pick<GrpcContainer, 'end'> = { end: (why) => void ends.push(why) };
  const traffic = watchTraffic(container, clock);
  const short = (bytes: number): GrpcConnection => ({
    address: '',
    client: '',
    received: () => bytes,
    ping() {},
    destroy() {},
  });
  for (let i = 0; i < 16; i++) {
    const connection = short(limits.received.value / 16 + 1);
    traffic.connected(connection);
    traffic.disconnected(connection);
  }
  await clock.advance(limits.interval.value);
  t.same(ends, ['it sends too much']);
  traffic.stop();
});
