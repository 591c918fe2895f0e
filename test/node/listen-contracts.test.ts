/** No container takes the connections of another to the reads of contracts. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { hyperExpress } from '../../src/adapters/http/hyper-express.ts';
import { contractLimits } from '../../src/base/contract-limits.ts';
import type { Config } from '../../src/node/config/settings.ts';
import { listenContracts } from '../../src/node/listen-contracts.ts';
import { wholeNode } from './in-process.ts';

const OF_ONE = contractLimits.connections.value;

t.test('the connections of an address', { skip: process.platform !== 'linux' }, async (t) => {
  const { node } = await wholeNode(t, { set: ['miner.enable=no'] });
  const config = { dockerEngine: { restListen: { host: '127.0.0.1', port: 0 } } } as Config;
  const executions = { find: () => t.fail('no token'), admit: () => undefined } as never;
  const server = await listenContracts(config, hyperExpress, node.services, executions);
  const sockets: Socket[] = [];
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await server?.close();
  });
  for (let i = 0; i < 4 * OF_ONE; i++) {
    const socket = connect({
      ...{ host: '127.0.0.1', port: server!.port, localAddress: '127.0.0.2' },
    });
    socket.on('error', () => {}).resume();
    sockets.push(socket);
    await once(socket, 'connect');
    if (i >= OF_ONE && !socket.closed) await once(socket, 'close');
  }
  t.equal(sockets.filter(({ closed }) => !closed).length, OF_ONE);
  const other = await fetch(`http://127.0.0.1:${server!.port}/none`);
  t.equal(other.status, 404, 'another address is answered');
});
