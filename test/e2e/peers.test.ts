/** Real processes over real connections: /peers, registration, removal (scenarios 97, 98, 106). */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { systemRandom } from '../../src/adapters/system.ts';
import { base58 } from '../../src/base/base58.ts';
import { utf8 } from '../../src/base/bytes.ts';
import { run } from '../cli/run.ts';
import { startNode, temporaryFolder } from './dev-node.ts';
import {
  API_KEY,
  family,
  MEMBERS,
  networkFolder,
  OWNER,
  type Person,
  person,
  writeKeystore,
} from './network-folder.ts';
import { eventually, type Scope } from './process.ts';
import type { Rest } from './rest.ts';

const SECOND = MEMBERS[1]!;
const NEWCOMER = person('a newcomer');
const EMPTY = { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' };

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

/** The network of a folder as the configuration of another node of it. */
async function joining(
  scope: Scope,
  signed: { readonly dir: string; readonly config: string },
  owner: Person,
  network: string,
): Promise<string> {
  const dir = temporaryFolder(scope);
  const config = join(dir, 'node.conf');
  const text = readFileSync(signed.config, 'utf8')
    .replace(`owner-address = "${OWNER.address}"`, `owner-address = "${owner.address}"`)
    .replaceAll(signed.dir, dir)
    .replace(/network \{.*\}/, `network { bind-address = "127.0.0.1", ${network} }`);
  writeFileSync(config, text);
  await writeKeystore(join(dir, 'keystore.dat'), [owner]);
  return config;
}

interface Connected {
  readonly peers: readonly {
    readonly nodeOwnerAddress: string;
    readonly declaredAddress: string;
    readonly address: string;
    readonly peerName: string;
  }[];
}

const connected = async (rest: Rest): Promise<string[]> =>
  ((await rest.get('/peers/connected')).body as Connected).peers
    .map((peer) => peer.nodeOwnerAddress)
    .sort();

const connects = (rest: Rest, owners: readonly Person[]): Promise<true> =>
  eventually(`connections of ${rest.url}`, async () => {
    const expected = owners.map(({ address }) => address).sort();
    return String(await connected(rest)) === String(expected) || undefined;
  });

t.test('a network of processes', async (t) => {
  const signed = await networkFolder(t);
  const ports = [await freePort(), await freePort(), await freePort()];
  const place = (i: number): string => `"127.0.0.1:${ports[i]}"`;
  const networkOf = (i: number, known: readonly number[]): string =>
    `port = ${ports[i]}, declared-address = ${place(i)}, node-name = "node ${i}", ` +
    `attempt-connection-delay = 200ms, suspension-residence-time = 1s, ` +
    `known-peers = [${known.map(place)}]`;
  const firstConfig = await joining(t, signed, OWNER, networkOf(0, []));
  const secondConfig = await joining(t, signed, SECOND, networkOf(1, [0]));
  const newcomerConfig = await joining(t, signed, NEWCOMER, networkOf(2, [0]));

  const first = await startNode(t, firstConfig, { apiKey: API_KEY });
  const second = await startNode(t, secondConfig, { apiKey: API_KEY });
  await connects(first.rest, [SECOND]);
  await connects(second.rest, [OWNER]);

  t.test('what /peers tells', async (t) => {
    const peers = ((await first.rest.get('/peers/connected')).body as Connected).peers;
    t.match(peers, [
      {
        peerName: 'node 1',
        declaredAddress: `/127.0.0.1:${ports[1]}`,
        address: /^\/127\.0\.0\.1:\d+$/,
        applicationConsensus: 'poa',
      },
    ]);
    t.match((await first.rest.get('/peers/all')).body, {
      peers: [{ address: `/127.0.0.1:${ports[1]}` }],
    });
    t.match((await first.rest.get(`/peers/hostname/${SECOND.address}`)).body, {
      connected: true,
      ip: '127.0.0.1',
    });
    t.match((await first.rest.get(`/privacy/hostname/${NEWCOMER.address}`)).body, {
      connected: false,
    });
    t.strictSame((await first.rest.get('/peers/blacklisted')).body, []);
    t.match((await first.rest.post('/peers/clearblacklist')).body, {
      result: 'blacklist cleared',
    });
    t.match(await first.rest.post('/peers/connect', { host: '127.0.0.1', port: '1' }), {
      status: 200,
      body: { hostname: '127.0.0.1', status: 'Trying to connect' },
    });
    await eventually('a suspension', async () => {
      const { body } = await first.rest.get('/peers/suspended');
      return JSON.stringify(body).includes('127.0.0.1:1') || undefined;
    });
    const signature = base58.encode(
      family.sign(SECOND.privateKey, utf8(SECOND.address), systemRandom),
    );
    const identity = { address: SECOND.address, signature };
    t.match((await first.rest.post('/peers/identity', identity)).body, {
      publicKey: OWNER.publicKey,
    });
    t.equal((await first.rest.post('/peers/connect', { host: 'no.such.', port: 1 })).status, 400);
  });

  t.test('the transport key is a file of its own', async (t) => {
    const key = join(firstConfig, '..', 'data', 'node.key');
    t.equal(statSync(key).size, 64);
    t.equal(statSync(key).mode & 0o777, 0o600);
    t.notOk(readFileSync(key).includes(Buffer.from(OWNER.privateKey)));
  });

  t.test('both have the same chain', async () => {
    await eventually('the same block', async () => {
      const height = (await first.rest.height()) - 2;
      if (height < 3) return undefined;
      const [a, b] = await Promise.all(
        [first, second].map(async ({ rest }) => (await rest.get(`/blocks/at/${height}`)).body),
      );
      const [one, other] = [a, b] as { signature?: string }[];
      return (one?.signature !== undefined && one.signature === other?.signature) || undefined;
    });
  });

  const register = async (opType: 'add' | 'remove'): Promise<void> => {
    const tx = await first.rest.broadcast(
      await first.rest.sign({
        type: 111,
        version: 1,
        sender: OWNER.address,
        target: NEWCOMER.address,
        targetPubKey: NEWCOMER.publicKey,
        nodeName: 'the newcomer',
        opType,
        fee: 1_000_000,
      }),
    );
    await first.rest.mined(tx['id']);
    await eventually('the block at the second node', async () => {
      const answer = await second.rest.get(`/transactions/info/${String(tx['id'])}`);
      return answer.status === 200 || undefined;
    });
  };

  t.test('scenario 97: not before the key is registered', async (t) => {
    const refused = await run(['start', newcomerConfig], { env: EMPTY });
    t.equal(refused.code, 1);
    t.match(refused.stderr, /Your node is probably not registered in the network/);
    await register('add');
    const newcomer = await startNode(t, newcomerConfig, { apiKey: API_KEY });
    await connects(newcomer.rest, [OWNER, SECOND]);
    await connects(first.rest, [SECOND, NEWCOMER]);

    t.test('scenario 98: not after it is removed', async (t) => {
      await register('remove');
      await connects(first.rest, [SECOND]);
      await connects(second.rest, [OWNER]);
      const { body } = await first.rest.get('/peers/all');
      t.notMatch(JSON.stringify(body), String(ports[2]));
      await new Promise((resolve) => setTimeout(resolve, 2500));
      t.strictSame(await connected(first.rest), [SECOND.address], 'its dials are refused');
    });
  });

  t.test('an orderly stop', async (t) => {
    t.equal((await first.stop()).code, 0);
    await connects(second.rest, []);
    t.match(
      JSON.parse(readFileSync(join(firstConfig, '..', 'peers.dat'), 'utf8')),
      [`127.0.0.1:${ports[1]}`],
      'known peers are kept',
    );
  });
});

t.test('scenario 106: nobody to ask', async (t) => {
  const signed = await networkFolder(t);
  for (const network of ['port = 0', 'listen = no']) {
    const config = await joining(t, signed, NEWCOMER, network);
    const { code, stderr } = await run(['start', config], { env: EMPTY });
    t.equal(code, 1);
    t.match(
      stderr,
      /Can't execute InitialSync: 'node\.network\.known-peers' is empty in the configuration/,
    );
  }
});
