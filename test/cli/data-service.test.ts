// The process of the data service: what its log says of its life, and ports that are taken.
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { madeChain } from '../data-service/made-chain.ts';
import { madeNode } from '../data-service/made-node.ts';
import { startCommand } from '../system/e2e/process.ts';
import { jsonLines, run } from './run.ts';

const settings = (...all: readonly string[]): string[] =>
  all.flatMap((one) => ['--set', `data-service.${one}`]);

async function takenPort(t: Test): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

t.test('it listens when it can answer, and its events are its own', async (t) => {
  const chain = madeChain({ seed: 'its life', txsPerBlock: 1, accounts: 3 });
  const node = await madeNode(t, () => chain);
  const folder = join(t.testdir({}), 'data');
  const set = settings(`node-url=${node.url}`, `database-url=pglite:${folder}`, 'port=0');
  const service = startCommand(t, ['data', 'start', '--json', ...set]);
  const [opening] = jsonLines(await service.line('stderr', /"data\.opening"/));
  const queries = `${opening?.['url']}/transactions`;
  // The chain has its first block alone, so the store is not even opened.
  t.equal((await fetch(queries)).status, 503);
  t.notMatch(service.stderr(), 'data.listening');
  t.equal(service.stdout(), '');
  chain.grow(1);
  await service.line('stderr', /"data\.listening"/);
  await service.line('stdout', /"ready":true/);
  t.equal((await fetch(queries)).status, 200);
  service.kill('SIGTERM');
  t.equal((await service.exit).code, 0);
  t.match(service.stderr(), /"event":"data\.stopping","signal":"SIGTERM"/);
  t.notMatch(service.stderr(), '"node.stopping"');
});

for (const [how, level, env] of [
  ['logging-level', 'ERROR', {}],
  ['LOG_LEVEL wins', 'DEBUG', { LOG_LEVEL: 'error' }],
] as const) {
  t.test(`it logs as much as it is told: ${how}`, async (t) => {
    const chain = madeChain({ seed: 'its level', txsPerBlock: 1, accounts: 3 });
    chain.grow(1);
    const node = await madeNode(t, () => chain);
    const set = settings(`node-url=${node.url}`, 'database-url=pglite:', 'port=0');
    const words = ['data', 'start', '--json', ...set, '--set', `logging-level=${level}`];
    const service = startCommand(t, words, { env });
    await service.line('stdout', /"ready":true/);
    service.kill('SIGTERM');
    t.equal((await service.exit).code, 0);
    t.equal(service.stderr(), '', 'nothing went wrong');
  });
}

t.test('a port that is taken ends it with the remedy', async (t) => {
  const port = await takenPort(t);
  const folder = join(t.testdir({}), 'data');
  const taken = [`database-url=pglite:${folder}`, `port=${port}`];
  // The server of metrics, which runs by then, ends with it.
  const set = settings(...taken, 'metrics-port=0');
  const service = await run(['data', 'start', ...set]);
  t.equal(service.code, 1);
  t.match(
    service.stderr,
    `data service on 127.0.0.1:${port} (data-service.bind-address, data-service.port): another ` +
      'process listens there; stop that process or choose another address or port\n',
  );
  const dev = await run(['dev', '--rest-port', '0', '--data-port', String(port)]);
  t.equal(dev.code, 1);
  t.match(dev.stderr, `127.0.0.1:${port} (--data-port): another process listens there; stop that`);
  t.equal(dev.stdout, '');
});
