/** Four real processes over real connections: /peers, registration, removal (scenarios 97, 98, 106). */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemRandom } from '../../../src/adapters/system.ts';
import { base58 } from '../../../src/base/base58.ts';
import { utf8 } from '../../../src/base/bytes.ts';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { run } from '../../cli/run.ts';
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
import { blockId, connectedOwners as connected } from './process-network.ts';
import type { Rest } from './rest.ts';

const SECOND = MEMBERS[1]!;
const THIRD = MEMBERS[2]!;
/** Owns the third node; its peers know that one by another address. */
const HIDDEN = person('who keeps to the background');
const NEWCOMER = person('a newcomer');
// Four processes take their time to start, twice.
t.setTimeout(300_000);

const EMPTY = { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' };

/** The network of a folder as the configuration of another node of it. */
async function joining(
  scope: Scope,
  signed: { readonly dir: string; readonly config: string },
  owner: Person,
  network: string,
  identity = owner,
): Promise<string> {
  const dir = temporaryFolder(scope);
  const config = join(dir, 'node.conf');
  const text = readFileSync(signed.config, 'utf8')
    .replace(`owner-address = "${OWNER.address}"`, `owner-address = "${owner.address}"`)
    .replace('network {', `privacy.owner-address = "${identity.address}"\n  network {`)
    .replaceAll(signed.dir, dir)
    .replace(/network \{.*\}/, `network { bind-address = "127.0.0.1", ${network} }`);
  writeFileSync(config, text);
  await writeKeystore(join(dir, 'keystore.dat'), identity === owner ? [owner] : [owner, identity]);
  return config;
}

type Starting = ReturnType<typeof startNode>;

interface Connected {
  readonly peers: readonly {
    readonly nodeOwnerAddress: string;
    readonly declaredAddress: string;
    readonly address: string;
    readonly peerName: string;
  }[];
}

const connects = (rest: Rest, owners: readonly Person[]): Promise<true> =>
  eventually(`connections of ${rest.url}`, async () => {
    const expected = owners.map(({ address }) => address).sort();
    return String(await connected(rest)) === String(expected) || undefined;
  });

t.test('a network of processes', async (t) => {
  const signed = await networkFolder(t);
  const ports = await freePorts(4);
  const place = (i: number): string => `"127.0.0.1:${ports[i]}"`;
  /** The third node declares a name, the others an address. */
  const declared = (i: number): string => (i === 2 ? `"localhost:${ports[i]}"` : place(i));
  const cryptographyOf = (i: number, known: readonly number[]): string =>
    `port = ${ports[i]}, declared-address = ${declared(i)}, node-name = "node ${i}", ` +
    `attempt-connection-delay = 200ms, suspension-residence-time = 1s, ` +
    `known-peers = [${known.map(place)}]`;
  const firstConfig = await joining(t, signed, OWNER, cryptographyOf(0, []));
  const secondConfig = await joining(t, signed, SECOND, cryptographyOf(1, [0]));
  const thirdConfig = await joining(t, signed, HIDDEN, cryptographyOf(2, [0]), THIRD);
  const newcomerConfig = await joining(t, signed, NEWCOMER, cryptographyOf(3, [0]));
  const start = (config: string) => startNode(t, config, { apiKey: API_KEY });

  let first = await start(firstConfig);
  let [second, third] = await Promise.all([start(secondConfig), start(thirdConfig)]);
  await connects(first.rest, [SECOND, THIRD]);
  await connects(second.rest, [OWNER, THIRD]);

  t.test('what /peers tells', async (t) => {
    const peers = ((await first.rest.get('/peers/connected')).body as Connected).peers;
    t.match(
      peers.find(({ nodeOwnerAddress }) => nodeOwnerAddress === SECOND.address),
      {
        peerName: 'node 1',
        declaredAddress: `/127.0.0.1:${ports[1]}`,
        address: /^\/127\.0\.0\.1:\d+$/,
        applicationConsensus: 'poa',
      },
    );
    const { body: all } = await first.rest.get('/peers/all');
    t.match(JSON.stringify(all), `"address":"/127.0.0.1:${ports[1]}"`);
    for (const [owner, hostname] of [
      [SECOND, '127.0.0.1'],
      [THIRD, 'localhost'],
    ] as const) {
      for (const group of ['peers', 'privacy']) {
        const { body } = await first.rest.get(`/${group}/hostname/${owner.address}`);
        t.strictSame(body, { hostname, ip: '127.0.0.1', connected: true });
      }
    }
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
      return JSON.stringify(body).includes('"hostname":"/127.0.0.1"') || undefined;
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

  t.test('a node is to others who privacy.owner-address is', async (t) => {
    t.match((await third.rest.get('/node/owner')).body, { address: HIDDEN.address });
    const signature = base58.encode(
      family.sign(SECOND.privateKey, utf8(SECOND.address), systemRandom),
    );
    const asked = await third.rest.post('/peers/identity', { address: SECOND.address, signature });
    t.strictSame(asked.body, { publicKey: THIRD.publicKey });
  });

  t.test('the transport key is a file of its own', async (t) => {
    const key = join(firstConfig, '..', 'data', 'node.key');
    t.equal(statSync(key).size, 64);
    t.equal(statSync(key).mode & 0o777, 0o600);
    t.notOk(readFileSync(key).includes(Buffer.from(OWNER.privateKey)));
  });

  t.test('all have the same chain', async () => {
    await eventually('the same block', async () => {
      const height = (await first.rest.height()) - 2;
      if (height < 3) return undefined;
      const nodes = [first, second, third];
      const ids = await Promise.all(nodes.map(({ rest }) => blockId(rest, height)));
      return (ids[0] !== undefined && new Set(ids).size === 1) || undefined;
    });
  });

  /** Resolves with the height of the block, when all have it. */
  const register = async (opType: 'add' | 'remove'): Promise<number> => {
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
    const nodes = [first, second, third];
    const [mined] = await Promise.all(nodes.map(({ rest }) => rest.mined(tx['id'])));
    return Number(mined?.['height']);
  };

  t.test('scenario 97: not before the key is registered', async (t) => {
    const refused = await run(['start', newcomerConfig], { env: EMPTY });
    t.equal(refused.code, 77);
    t.match(refused.stderr, /Your node is probably not registered in the network/);
    t.match(refused.stderr, `Address: ${NEWCOMER.address}; public key: ${NEWCOMER.publicKey}`);
    await register('add');
    let newcomer = await start(newcomerConfig);
    await connects(newcomer.rest, [OWNER, SECOND, THIRD]);
    await connects(first.rest, [SECOND, THIRD, NEWCOMER]);

    await t.test('scenario 98: not after it is removed', async (t) => {
      const height = await register('remove');
      await connects(first.rest, [SECOND, THIRD]);
      await connects(second.rest, [OWNER, THIRD]);
      await connects(third.rest, [OWNER, SECOND]);
      const { body } = await first.rest.get('/peers/all');
      t.notMatch(JSON.stringify(body), String(ports[3]));
      await eventually('a refusal of its dials', () =>
        newcomer.log().includes('is not permitted to join the cluster') ? true : undefined,
      );
      t.notOk((await connected(first.rest)).includes(NEWCOMER.address));

      // All of them, since a node that has the block would tell the others of it.
      for (const node of [first, second, third, newcomer]) await node.stop();
      for (const config of [firstConfig, secondConfig, thirdConfig]) {
        t.equal(
          (await run(['chain', 'rollback', config, String(height - 1), '--give-up-turns'])).code,
          0,
        );
      }
      // It may have been shut out before it got that block.
      await run(['chain', 'rollback', newcomerConfig, String(height - 1)]);
      // Else the removal goes back to the pool of one of them, and into the next block.
      for (const config of [firstConfig, secondConfig, thirdConfig, newcomerConfig]) {
        rmSync(join(config, '..', 'data', 'pool.journal'), { force: true });
      }
      first = await start(firstConfig);
      [second, third, newcomer] = await Promise.all(
        [secondConfig, thirdConfig, newcomerConfig].map(start) as [Starting, Starting, Starting],
      );
      await connects(first.rest, [SECOND, THIRD, NEWCOMER]);
    });
  });

  t.test('an orderly stop', async (t) => {
    t.equal((await first.stop()).code, 0);
    await eventually('the end of its connections', async () =>
      (await connected(second.rest)).includes(OWNER.address) ? undefined : true,
    );
    const kept = JSON.parse(readFileSync(join(firstConfig, '..', 'peers.dat'), 'utf8'));
    t.ok(kept.includes(`127.0.0.1:${ports[1]}`), 'known peers are kept');
  });
});

t.test('scenario 106: nobody to ask', async (t) => {
  const signed = await networkFolder(t);
  for (const network of ['port = 0', 'listen = no']) {
    const config = await joining(t, signed, NEWCOMER, network);
    const { code, stderr } = await run(['start', config], { env: EMPTY });
    t.equal(code, 77);
    t.match(
      stderr,
      /Can't execute InitialSync: 'node\.network\.known-peers' is empty in the configuration/,
    );
    t.match(stderr, `Address: ${NEWCOMER.address}; public key: ${NEWCOMER.publicKey}`);
  }
});
