/** What an operator reads where the container engine or its interfaces cannot be opened. */
import { createServer } from 'node:net';
import t from 'tap';
import { systemClock, systemRandom } from '../../../src/adapters/system.ts';
import { openContainers } from '../../../src/cli/opening/open-containers.ts';
import { LEAST, read } from '../../node/config/sample.ts';
import { memoryLog } from '../../node/memory-ports.ts';
import { temporaryFolder } from '../../system/e2e/dev-node.ts';

const ports = { clock: systemClock(undefined), random: systemRandom, log: memoryLog() };

t.test('a node without contracts needs no engine', async (t) => {
  const { config } = await read(LEAST);
  t.equal(await openContainers(config, ports), undefined);
});

t.test('what cannot be opened', async (t) => {
  const folder = temporaryFolder(t);
  const refused = async (settings: string) => {
    const text = `${LEAST}\ndata-directory = "${folder}"\ndocker-engine { enable = yes, ${settings} }`;
    const { config } = await read(text);
    return openContainers(config, ports).then(
      () => 'opened',
      (cause: Error) => cause.message,
    );
  };
  t.equal(
    await refused(`docker-host = "unix://${folder}/none.sock"`),
    `container engine at unix://${folder}/none.sock (docker-engine.docker-host): it does not exist; start it and let this user reach it, or set docker-engine.enable = no`,
  );
  t.match(
    await refused('docker-host = "tcp://192.0.2.1:2375"'),
    /needs docker-engine.tls; start it/,
  );
  t.match(await refused('docker-host = "elsewhere"'), /neither unix:\/\/PATH nor tcp/);

  const other = createServer();
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
  t.teardown(() => other.close());
  const { port } = other.address() as { port: number };
  t.match(
    await refused(
      `docker-host = "unix://${folder}/none.sock", grpc-listen = tcp }\napi.grpc { bind-address = "127.0.0.1", port = ${port}`,
    ),
    new RegExp(`^listener for contracts on 127.0.0.1:${port} .*another process listens there`),
  );
});
