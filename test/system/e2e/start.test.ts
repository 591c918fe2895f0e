/** What `platform-node start` does with a folder: scenarios "Genesis and start" of scenarios.md. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { libs } from '@waves/waves-transactions';
import t, { type Test } from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { run } from '../../cli/run.ts';
import { startNode, temporaryFolder } from './dev-node.ts';
import {
  API_KEY,
  MEMBERS,
  type Member,
  networkFolder,
  networkText,
  OWNER,
  person,
  writeKeystore,
} from './network-folder.ts';
import { eventually } from './process.ts';

const NO_PASSWORD = { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' };
const start = (config: string, env: Record<string, string> = NO_PASSWORD) =>
  run(['start', config], { env });
const digest = (path: string): string =>
  createHash('sha256').update(readFileSync(path)).digest('hex');
const database = (dir: string): string => {
  const folder = join(dir, 'data', 'chain');
  const name = readdirSync(folder).find((one) => one.endsWith('.mdb') && !one.includes('lock'));
  return join(folder, name!);
};

t.test('scenario 1: the genesis block of three members', async (t) => {
  const { config, dir } = await networkFolder(t);
  const env = { NODE_DEBUG_NATIVE: 'CODE_CACHE' };
  const node = await startNode(t, config, { apiKey: API_KEY, env });
  const first = (await node.rest.get('/blocks/first')).body as Genesis;
  const T = first.timestamp;
  t.strictSame(
    first.transactions.map(({ type, timestamp }) => [type, timestamp - T]),
    [
      [1, 0],
      [1, 0],
      [1, 0],
      [110, 0],
      [101, -1],
      [101, -2],
      [101, -3],
      [110, 0],
      [101, -4],
      [110, 0],
    ],
  );
  for (const { address, amount, roles } of MEMBERS) {
    t.match((await node.rest.get(`/addresses/balance/${address}/1`)).body, { balance: Number });
    const balance = (await node.rest.get(`/addresses/balance/${address}`)).body;
    t.match(balance, { balance: amount });
    const held = (await node.rest.get(`/permissions/${address}`)).body as { roles: Role[] };
    t.strictSame(held.roles.map(({ role }) => role).sort(), [...roles].sort());
  }
  const shown = await run(['genesis', 'show', '--bytes', config]);
  const bytes = Buffer.from(shown.stdout.trim().replaceAll('"', ''), 'hex');
  const signature = bytes.subarray(-64);
  t.equal(base58.encode(signature), first.signature);
  const key = /genesis-public-key-base-58 = "(\w+)"/.exec(readFileSync(config, 'utf8'))?.[1];
  t.ok(
    libs.crypto.verifySignature(String(key), bytes.subarray(0, -64), signature),
    'an independent implementation verifies it',
  );
  await eventually('a block', async () => ((await node.rest.height()) > 1 ? true : undefined));
  t.equal((await node.stop()).code, 0);
  t.ok(existsSync(database(dir)));
  // Of the modules of Node, in all threads: with flags of its own a process would compile them. Those
  // that a slow machine loads later count no more.
  const [loading] = node.log().split('"node.started"');
  t.match(loading, /Code cache of .* is accepted/);
  t.notMatch(loading, /Code cache of .* is rejected/);
});

interface Genesis {
  readonly timestamp: number;
  readonly signature: string;
  readonly transactions: readonly { readonly type: number; readonly timestamp: number }[];
}

interface Role {
  readonly role: string;
}

t.test('what cannot be signed stays as it is', async (t) => {
  async function refused(t: Test, options: Parameters<typeof networkText>[1], text: RegExp) {
    const dir = temporaryFolder(t);
    const config = join(dir, 'node.conf');
    writeFileSync(config, networkText(dir, options));
    const before = readFileSync(config, 'utf8');
    const { code, stdout, stderr } = await run(['genesis', 'sign', config]);
    t.equal(code, 1);
    t.equal(stdout, '');
    t.match(stderr, text);
    t.equal(readFileSync(config, 'utf8'), before);
    t.strictSame(readdirSync(dir), ['node.conf'], 'no .old file');
  }

  await t.test('scenario 2: a sum that differs from initial-balance', (t) =>
    refused(
      t,
      { initialBalance: 1 },
      /The value of 'initial-balance' has to be equal to the sum of transactions amounts/,
    ),
  );
  await t.test('scenario 3: a member listed twice, and no permissioner', (t) => {
    const members = [{ ...OWNER, roles: ['miner', 'connection_manager'] }, OWNER].map(
      (one): Member => ({ ...one, roles: ['miner', 'connection_manager'] }),
    );
    const twice = `The following network participants are duplicated: '\\[${OWNER.publicKey}\\]'`;
    const none = "At least one network participant must have the 'permissioner' role";
    return refused(t, { members }, new RegExp(`\\[${twice},${none}\\]`));
  });
  await t.test('scenario 7: 128 transactions in a block of version 1', (t) => {
    // Two for each member and one for each role.
    const others = Array.from({ length: 60 }, (_, i) => person(`member ${i}`));
    const members = [
      OWNER,
      { ...person('one more'), roles: ['miner'], amount: 1 },
      ...others.map((one): Member => ({ ...one, roles: [], amount: 1 })),
    ];
    return refused(
      t,
      { members },
      /Too much transactions for genesis block: found '128', max count '127'/,
    );
  });
});

t.test('scenario 4: one amount edited after signing', async (t) => {
  const { config, dir, edit } = await networkFolder(t);
  const sum = MEMBERS.reduce((total, { amount }) => total + amount, 0);
  edit('amount = 3000000000 }', 'amount = 3000000001 }');
  edit(`initial-balance = ${sum}`, `initial-balance = ${sum + 1}`);
  const { code, stderr } = await start(config);
  t.equal(code, 1);
  t.match(stderr, /INCORRECT GENESIS BLOCK CONFIGURATION!!!/);
  t.match(stderr, /Passed genesis signature is not valid/);
  t.notOk(existsSync(join(dir, 'data')), 'the empty directory stays empty');
});

t.test('scenario 5: data of another network are refused and left alone', async (t) => {
  const { config, dir, sign } = await networkFolder(t);
  const own = readFileSync(config, 'utf8');
  const node = await startNode(t, config, { apiKey: API_KEY });
  const height = await eventually('a block', async () => {
    const now = await node.rest.height();
    return now > 1 ? now : undefined;
  });
  await node.stop();
  const before = digest(database(dir));

  await sign();
  const { code, stderr } = await start(config);
  t.equal(code, 1);
  t.match(stderr, /INCORRECT GENESIS BLOCK CONFIGURATION!!!/);
  t.match(stderr, /Mismatched genesis blocks in configuration and blockchain/);
  t.equal(digest(database(dir)), before, 'not one byte of the data has changed');

  const other = readFileSync(config, 'utf8');
  writeFileSync(config, own);
  const again = await startNode(t, config);
  t.ok((await again.rest.height()) >= height, 'its own configuration goes on with them');
  await again.stop();

  rmSync(join(dir, 'data'), { recursive: true });
  writeFileSync(config, other);
  const fresh = await startNode(t, config);
  t.ok((await fresh.rest.height()) >= 1, 'in an empty directory the other network starts');
  t.equal((await fresh.stop()).code, 0);
});

t.test('scenario 6: data of proof of stake under proof of authority', async (t) => {
  const { config, edit, sign } = await networkFolder(t, { consensus: 'pos' });
  const node = await startNode(t, config);
  await node.stop();
  edit('type = pos', 'type = poa');
  const unsigned = await start(config);
  t.equal(unsigned.code, 1);
  t.match(unsigned.stderr, /Passed genesis signature is not valid/);
  await sign();
  const { code, stderr } = await start(config);
  t.equal(code, 1);
  t.match(stderr, /Mismatched genesis blocks in configuration and blockchain/);
});

t.test('scenario 8: three ways not to have the key of the owner', async (t) => {
  const { config, dir, edit } = await networkFolder(t);
  const keystore = join(dir, 'keystore.dat');
  rmSync(keystore);
  await writeKeystore(keystore, [{ privateKey: OWNER.privateKey, password: 'secret' }]);

  const missing = person('nobody').address;
  edit(`owner-address = "${OWNER.address}"`, `owner-address = "${missing}"`);
  const stranger = await start(config);
  edit(missing, OWNER.address);
  const wrong = await start(config, { PLATFORM_NODE_OWNER_PASSWORD: 'guessed' });
  const silent = await start(config, {});
  const unset = await start(config, { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'false' });
  t.strictSame(
    [stranger, wrong, silent, unset].map(({ code }) => code),
    [1, 1, 61, 1],
  );
  t.match(stranger.stderr, `Node owner address '${missing}' does not exist in the keystore`);
  t.match(wrong.stderr, `Failed to get key for ${OWNER.address}: Wrong password`);
  t.match(silent.stderr, /PLATFORM_NODE_OWNER_PASSWORD.*PLATFORM_NODE_OWNER_PASSWORD_EMPTY/);
  t.match(unset.stderr, /PLATFORM_NODE_OWNER_PASSWORD_EMPTY.*PLATFORM_NODE_OWNER_PASSWORD/);
  const right = await startNode(t, config, {
    env: { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'false', PLATFORM_NODE_OWNER_PASSWORD: 'secret' },
  });
  t.equal((await right.stop()).code, 0);
});

t.test('scenario 9: an owner without password is not asked for one, and mines', async (t) => {
  const { config } = await networkFolder(t);
  const node = await startNode(t, config, { env: NO_PASSWORD });
  await eventually('a block', async () => ((await node.rest.height()) > 1 ? true : undefined));
  t.notMatch(node.log(), /Enter the password/);
  t.equal((await node.stop()).code, 0);
});

t.test('scenario 10: a second process on the same data directory', async (t) => {
  const { config } = await networkFolder(t);
  const node = await startNode(t, config, { apiKey: API_KEY });
  const second = await start(config);
  t.equal(second.code, 75);
  t.match(second.stderr, /another process uses the folder/);
  const height = await node.rest.height();
  await eventually('more blocks of the first', async () =>
    (await node.rest.height()) > height ? true : undefined,
  );
  t.equal((await node.stop()).code, 0);
});

t.test('scenario 30: proof of authority without ntp.fatal-timeout', async (t) => {
  const { config, edit, dir } = await networkFolder(t);
  edit(', fatal-timeout = 5m', '');
  const { code, stderr } = await start(config);
  t.equal(code, 1);
  t.match(stderr, /ntp\.fatal-timeout.*is missing, and PoA requires a working clock/);
  t.notOk(existsSync(join(dir, 'data')));
});
