/**
 * A node with very many idle connections (row R13 of the goals): half-open ones of peers, idle ones
 * and slow bodies over HTTP. CONNECTIONS_SHARE=1 is the full form.
 */
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { threadSettings } from '../../http-threads.ts';
import { startNode } from './dev-node.ts';
import { API_KEY, networkFolder } from './network-folder.ts';
import { eventually } from './process.ts';

const SHARE = Number(process.env['CONNECTIONS_SHARE'] ?? 0.1);
const HALF_OPEN = Math.round(500 * SHARE);
const IDLE = Math.round(2000 * SHARE);
const SLOW = Math.round(200 * SHARE);
const SECONDS = Math.round(8 + 22 * SHARE);
const MIB = 1024 * 1024;
const GROWTH_MAX_MIB = 100;
const HOST = '127.0.0.1';

t.setTimeout(300_000);

t.test('half-open peers, idle clients and slow bodies', async (t) => {
  const [peerPort, metricsPort] = (await freePorts(2)) as [number, number];
  const { config } = await networkFolder(t);
  const { rest, ...node } = await startNode(t, config, {
    apiKey: API_KEY,
    set: [
      `network.port=${peerPort}`,
      'metrics.enable=yes',
      `metrics.port=${metricsPort}`,
      ...threadSettings,
    ],
  });
  const restPort = Number(new URL(rest.url).port);
  const resident = async (): Promise<number> => {
    const text = await (await fetch(`http://${HOST}:${metricsPort}/metrics`)).text();
    return Number(/^node_process_resident_bytes (\S+)/m.exec(text)?.[1]) / MIB;
  };
  await eventually('some blocks', async () => ((await rest.height()) > 5 ? true : undefined));
  const before = await resident();

  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  function open(port: number, text: string): Socket {
    const socket = connect(port, HOST, () => socket.write(text));
    // Being thrown out is what should happen to some of them.
    socket.on('error', () => {});
    socket.resume();
    sockets.push(socket);
    return socket;
  }
  for (let i = 0; i < HALF_OPEN; i++) open(peerPort, '\x13/multistream/1.0.0\n');
  for (let i = 0; i < IDLE; i++) open(restPort, 'GET /blocks/height HTTP/1.1\r\nhost: x\r\n\r\n');
  const head = 'POST /transactions/broadcast HTTP/1.1\r\nhost: x\r\ncontent-length: 5000\r\n\r\n{';
  const slow = Array.from({ length: SLOW }, () => open(restPort, head));
  const drip = setInterval(() => {
    for (const socket of slow) if (socket.writable) socket.write(' ');
  }, 1000);
  t.teardown(() => clearInterval(drip));

  const height = await rest.height();
  for (let second = 0; second < SECONDS; second++) {
    t.equal((await rest.get('/node/status')).status, 200, 'clients are served');
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  t.ok((await rest.height()) > height + 3, 'blocks are made');
  const grown = (await resident()) - before;
  t.comment(`${HALF_OPEN} + ${IDLE} + ${SLOW} connections: ${Math.round(grown)} MiB more`);
  t.ok(grown <= GROWTH_MAX_MIB, `at most ${GROWTH_MAX_MIB} MiB more: ${Math.round(grown)}`);
  for (const socket of sockets) socket.destroy();
  t.strictSame(await node.stop(), { code: 0, signal: null });
});
