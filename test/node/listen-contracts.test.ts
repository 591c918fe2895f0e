/** No container takes the connections of another to the reads of contracts. */
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { contractLimits } from '../../src/base/limits/contract-limits.ts';
import type { Config } from '../../src/node/config/settings.ts';
import { listenContracts } from '../../src/node/listen-contracts.ts';
import { wholeNode } from './in-process.ts';

const OF_ONE = contractLimits.connections.value;
const OWN = '127.0.0.2';
const GATEWAY = '127.0.0.3';

t.test('the connections of an address', { skip: process.platform !== 'linux' }, async (t) => {
  const { node } = await wholeNode(t, { set: ['miner.enable=no'] });
  const config = { dockerEngine: { restListen: { host: '127.0.0.1', port: 0 } } } as Config;
  const executions = { find: () => t.fail('no token'), admit: () => undefined } as never;
  const containers = { isOfOne: (address: string) => address === OWN };
  const ports = { http: httpListener, containers };
  const server = await listenContracts(config, ports, node.services, executions);
  const sockets: Socket[] = [];
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await server?.close();
  });
  async function open(localAddress: string): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port: server!.port, localAddress });
    socket.on('error', () => {}).resume();
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }
  for (let i = 0; i < 4 * OF_ONE; i++) {
    const socket = await open(OWN);
    if (i >= OF_ONE && !socket.closed) await once(socket, 'close');
  }
  t.equal(sockets.filter(({ closed }) => !closed).length, OF_ONE);
  const other = await fetch(`http://127.0.0.1:${server!.port}/none`);
  t.equal(other.status, 404, 'another address is answered');
  for (let i = 0; i < 4 * OF_ONE; i++) await open(GATEWAY);
  t.equal(await statusFor(GATEWAY, server!.port), 404, 'a gateway has more than one container');
});

const statusFor = (localAddress: string, port: number): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/none', localAddress, agent: false };
    get(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).once('error', reject);
  });
