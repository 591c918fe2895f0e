/**
 * configs/data-service/compose.yaml as it is shipped: PostgreSQL, a crawler, two servers, and one
 * address before them. Only the images are stand-ins, since there is no registry here.
 */
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { freePort } from '../../src/adapters/http/free-port.ts';
import { base58 } from '../../src/base/base58.ts';
import { utf8 } from '../../src/base/bytes.ts';
import { configuredFamily } from '../../src/crypto/families.ts';
import { type Engine, sharedEngine } from '../containers/engine.ts';
import { whyNoBusybox } from '../containers/images.ts';
import {
  checkoutImage,
  haproxyImage,
  postgresImage,
  whyNoHaproxy,
} from '../containers/service-images.ts';
import { madeChain } from '../data-service/made-chain.ts';
import { madeNode } from '../data-service/made-node.ts';
import { leftOut } from '../left-out.ts';
import { temporaryFolder } from './dev-node.ts';
import { eventually } from './process.ts';

const FILE = fileURLToPath(new URL('../../configs/data-service/compose.yaml', import.meta.url));
const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
/** A network of its own, so that the node on this machine has a known address in it. */
const NETWORK = '10.213.77';
const KEY = 'a key of the test';

const compose = [['docker', 'compose'], ['docker-compose']].find(
  ([name = '', ...rest]) => spawnSync(name, [...rest, 'version']).status === 0,
);
const reason = () =>
  compose === undefined
    ? 'there is no compose (Debian: apt install docker-compose)'
    : (whyNoHaproxy() ?? whyNoBusybox());
const shared = reason() === undefined ? await sharedEngine() : reason()!;
const skip = typeof shared === 'string' && leftOut(shared);
const run = promisify(execFile);
t.setTimeout(240_000);

async function project(t: Test, engine: Engine, nodePort: number) {
  const folder = temporaryFolder(t);
  const override = join(folder, 'override.yaml');
  const mount = { volumes: [`${CHECKOUT}:/opt/platform-node:ro`] };
  const text = JSON.stringify({
    services: { crawler: mount, server: mount, 'second-server': mount },
    networks: { default: { ipam: { config: [{ subnet: `${NETWORK}.0/24` }] } } },
  });
  writeFileSync(override, text);
  const [database, node, front] = [
    await postgresImage(engine),
    await checkoutImage(engine),
    await haproxyImage(engine),
  ];
  const port = await freePort('127.0.0.1', 0);
  const env = {
    ...process.env,
    DOCKER_HOST: engine.host,
    POSTGRES_IMAGE: database.image,
    NODE_IMAGE: node.image,
    HAPROXY_IMAGE: front.image,
    NODE_URL: `http://${NETWORK}.1:${nodePort}`,
    DATABASE_PASSWORD: 'secret',
    READER_PASSWORD: 'another secret',
    API_KEY_HASHES: base58.encode(configuredFamily(true).secureHash(utf8(KEY))),
    PORT: String(port),
  };
  const name = `data-${process.pid}`;
  const [program = '', ...first] = compose ?? [];
  const call = async (...args: string[]): Promise<string> => {
    const all = [...first, '-p', name, '-f', FILE, '-f', override, ...args];
    const { stdout, stderr } = await run(program, all, { env, maxBuffer: 1 << 24 });
    return stdout + stderr;
  };
  return { call, url: `http://127.0.0.1:${port}` };
}

/** One server alone answers twenty requests of a key in a second. */
const PACE_MS = 100;

t.test('two servers behind one address', { skip, timeout: 240_000 }, async (t) => {
  const chain = madeChain({ seed: 'compose', txsPerBlock: 5, accounts: 20 });
  chain.grow(30);
  const node = await madeNode(t, () => chain, { host: '0.0.0.0' });
  const { call, url } = await project(t, shared as Engine, Number(new URL(node.url).port));
  const ask = async (path: string) => {
    const answer = await fetch(url + path, { headers: { 'x-api-key': KEY, connection: 'close' } });
    return {
      status: answer.status,
      by: answer.headers.get('x-served-by'),
      height: Number(answer.headers.get('x-height')),
    };
  };
  t.teardown(() => call('down', '--volumes', '--timeout', '5').catch(() => undefined));
  await call('up', '--detach');
  const reaches = (height: number, servers: number) =>
    eventually(
      `${servers} servers at ${height}`,
      async () => {
        const answers = [];
        for (let i = 0; i < 4; i++) {
          await new Promise((resolve) => setTimeout(resolve, PACE_MS));
          answers.push(await ask('/transactions?limit=1').catch(() => undefined));
        }
        const good = answers.every((one) => one?.status === 200 && one.height === height);
        return good && new Set(answers.map((one) => one?.by)).size === servers ? true : undefined;
      },
      120_000,
    ).catch(async (cause: unknown) => {
      t.comment(await call('logs', '--tail', '20'));
      throw cause;
    });

  await reaches(31, 2);
  t.equal((await fetch(`${url}/transactions`)).status, 401, 'keys are asked for');
  const by = [];
  for (let i = 0; i < 6; i++) by.push((await ask('/transactions?limit=1')).by);
  t.strictSame(by.toSorted(), [...Array(3).fill('first'), ...Array(3).fill('second')], 'in turns');

  // While one server is killed, every request is answered.
  let isKilled = false;
  const killed = call('kill', 'server').then(() => {
    isKilled = true;
  });
  const statuses = new Map<number, number>();
  for (let after = 0; after < 20; after += isKilled ? 1 : 0) {
    const { status } = await ask('/transactions?limit=1');
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  }
  await killed;
  t.strictSame([...statuses.keys()], [200], JSON.stringify([...statuses]));
  chain.grow(3);
  await reaches(34, 1);
  await call('up', '--detach', 'server');
  chain.grow(3);
  await reaches(37, 2);

  await call('kill', 'crawler');
  chain.reorganise(4, 6);
  await call('up', '--detach', 'crawler');
  await reaches(39, 2);
});
