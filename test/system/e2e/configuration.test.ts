/**
 * One node from a file that sets every parameter of the requirement's table "Node configuration
 * parameters that shape behaviour", in its spelling; each shows its effect.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { run } from '../../cli/run.ts';
import { startNode, temporaryFolder } from './dev-node.ts';
import { later } from './later.ts';
import { keyHash, person, WALLET_PASSWORD, writeKeystore } from './network-folder.ts';
import { eventually } from './process.ts';
import { restOf } from './rest.ts';

const CHAIN = 'K';
const HOST = '127.0.0.2';
const LIMIT = 3;
const API_KEY = 'the key of the interface';
const PRIVACY_KEY = 'the key of the privacy methods';
const OWNER_PASSWORD = 'of the owner';
const owner = { ...person('the owner', CHAIN), amount: 900_000_000_000 };
const other = { ...person('another member', CHAIN), amount: 100_000_000_000 };

const dir = temporaryFolder(t);
const config = join(dir, 'node.conf');
const dataDirectory = join(dir, 'elsewhere', 'data');
const walletFile = join(dir, 'keys', 'of-this-node.dat');
const port = await freePort();
const url = `http://${HOST}:${port}`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const text = `
node {
  platform-crypto = yes
  address-scheme-character = "${CHAIN}"
  owner-address = "${owner.address}"
  privacy { owner-address = "${other.address}", storage.vendor = file }
  genesis {
    initial-balance = ${owner.amount + other.amount}
    genesis-public-key-base-58 = ""
    signature = ""
    transactions = [
      { recipient = "${owner.address}", amount = ${owner.amount} }
      { recipient = "${other.address}", amount = ${other.amount} }
    ]
  }
  network-participants = [
    { public-key = "${owner.publicKey}", roles = [permissioner, miner, connection_manager] }
    { public-key = "${other.publicKey}", roles = [contract_developer] }
  ]
  network { bind-address = "127.0.0.1", port = 0, known-peers = ["127.0.0.3:6864"] }
  wallet { file = "${walletFile}", password = "${WALLET_PASSWORD}" }
  rest-api {
    enable = yes
    bind-address = "${HOST}"
    port = ${port}
    api-key-hash = "${keyHash(API_KEY)}"
    privacy-api-key-hash = "${keyHash(PRIVACY_KEY)}"
    transactions-by-address-limit = ${LIMIT}
  }
  data-directory = "${dataDirectory}"

  # What the table leaves to the defaults would make a network of its own wait.
  blockchain.consensus { type = poa, round-duration = 250ms, sync-duration = 50ms }
  miner.quorum = 0
  ntp { servers = [], fatal-timeout = 5m }
}
accounts-generator {
  platform-crypto = yes, chain-id = ${CHAIN}, amount = 1
  wallet = "${walletFile}", wallet-password = "${WALLET_PASSWORD}"
  reload-node-wallet { enabled = yes, url = "${url}/utils/reload-wallet" }
}
`;
writeFileSync(config, text);
await writeKeystore(walletFile, [
  { privateKey: owner.privateKey, password: OWNER_PASSWORD },
  other,
]);
const signing = await run(['genesis', 'sign', config]);
if (signing.code !== 0) throw new Error(signing.stderr);

const env = {
  PLATFORM_NODE_OWNER_PASSWORD: OWNER_PASSWORD,
  PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'false',
};
const node = await startNode(t, config, { env });
const rest = restOf(url, API_KEY);
const get = async (path: string): Promise<JsonObject> => (await rest.get(path)).body as JsonObject;

/** Rows of the table → the test of each; a text says what it waits for. */
const rows: Readonly<Record<string, ((t: Test) => Promise<void>) | string>> = {
  async 'platform-crypto'(t) {
    t.match(await get('/node/config'), { 'platform-crypto': true, gostCrypto: false });
    // Its keys and its genesis block are of the other family.
    const national = await run(['start', config, '--set', 'platform-crypto=no']);
    t.equal(national.code, 1);
    t.match(national.stderr, /INCORRECT GENESIS BLOCK CONFIGURATION.*Bad address checksum/);
  },

  async 'address-scheme-character'(t) {
    t.match(await get('/node/config'), { chainId: CHAIN });
    const foreign = person('the owner', 'T').address;
    t.match(await get(`/addresses/validate/${owner.address}`), { valid: true });
    t.match(await get(`/addresses/validate/${foreign}`), { valid: false });
  },

  async 'owner-address'(t) {
    t.match(await get('/node/owner'), { address: owner.address, publicKey: owner.publicKey });
    const block = await eventually('a block', async () => {
      const last = await get('/blocks/last');
      return Number(last['height']) > 1 ? last : undefined;
    });
    t.equal(block['generator'], owner.address, 'it makes the blocks');
  },

  async 'genesis.initial-balance'(t) {
    const sums = await Promise.all(
      [owner, other].map(({ address }) => get(`/addresses/balance/${address}`)),
    );
    const total = sums.reduce((sum, { balance }) => sum + Number(balance), 0);
    t.equal(total, owner.amount + other.amount);
    const wrong = join(dir, 'wrong.conf');
    writeFileSync(wrong, text.replace('initial-balance = ', 'initial-balance = 1'));
    const { code, stderr } = await run(['genesis', 'sign', wrong]);
    t.equal(code, 1);
    t.match(stderr, /The value of 'initial-balance' has to be equal/);
  },

  async 'genesis.transactions'(t) {
    for (const { address, amount } of [owner, other]) {
      t.match(await get(`/addresses/balance/${address}`), { balance: amount });
    }
  },

  async 'network-participants'(t) {
    const rolesOf = async ({ address }: typeof owner) =>
      ((await get(`/permissions/${address}`))['roles'] as { role: string }[]).map(
        ({ role }) => role,
      );
    t.strictSame((await rolesOf(owner)).sort(), ['connection_manager', 'miner', 'permissioner']);
    t.strictSame(await rolesOf(other), ['contract_developer']);
    const genesis = (await get('/blocks/first'))['transactions'] as JsonObject[];
    t.strictSame(
      genesis.filter(({ type }) => type === 110).map(({ target }) => target),
      [owner.address, other.address],
    );
  },

  async 'genesis-public-key-base-58, signature'(t) {
    const signed = readFileSync(config, 'utf8');
    const signature = /^ *signature = "(\w+)"$/m.exec(signed)?.[1];
    t.equal((await get('/blocks/first'))['signature'], signature);
    const edited = join(dir, 'edited.conf');
    const other = (_: string, before: string, digit: string): string =>
      `${before}${digit === '2' ? '3' : '2'}`;
    writeFileSync(edited, signed.replace(/(58 = ")(\w)/, other));
    const { code, stderr } = await run(['start', edited], { env });
    t.equal(code, 1);
    t.match(stderr, /Passed genesis signature is not valid/);
  },

  'network.bind-address, network.port': later.network,

  'network.known-peers': later.network,

  async 'wallet.file, wallet.password'(t) {
    const addresses = (await rest.get('/addresses')).body;
    t.strictSame((addresses as string[]).slice(0, 2).sort(), [owner, other].map(addressOf).sort());
    const set = ['--set', 'wallet.password=guessed', '--set', `data-directory=${dir}/empty`];
    const wrong = await run(['start', config, ...set], { env });
    t.equal(wrong.code, 1);
    t.match(wrong.stderr, /Wrong password of the wallet/);
    const nowhere = ['--set', `wallet.file=${dir}/no.dat`, '--set', `data-directory=${dir}/empty`];
    const missing = await run(['start', config, ...nowhere], { env });
    t.equal(missing.code, 1);
    t.match(missing.stderr, /Wallet can't be empty/);
  },

  async 'rest-api.enable, bind-address, port'(t) {
    t.equal((await rest.get('/blocks/height')).status, 200, 'where the file says');
    await t.rejects(fetch(`http://127.0.0.1:${port}/blocks/height`), 'at no other address');
    const set = ['rest-api.enable=no', `data-directory=${dir}/without`];
    const silent = startWithoutRest(t, set);
    t.notMatch(await silent, /"rest"/);
  },

  async 'scenario 110: rest-api.api-key-hash'(t) {
    const { stdout } = await run(['api-key', 'hash', API_KEY]);
    const { apiKeyHash: hash } = JSON.parse(stdout) as { apiKeyHash: string };
    t.equal(hash, keyHash(API_KEY));
    t.notOk(stdout.includes(API_KEY));
    const hashed = await fetch(`${url}/utils/hash/secure`, { method: 'POST', body: API_KEY });
    t.match(await hashed.json(), { hash });
    t.ok(readFileSync(config, 'utf8').includes(`"${hash}"`));
    const sign = { type: 4, version: 2, sender: other.address, recipient: owner.address };
    const request = { ...sign, amount: 1, fee: 1_000_000, attachment: '' };
    t.equal((await rest.post('/transactions/sign', request)).status, 200);
    for (const key of ['another key', '', PRIVACY_KEY, String(hash)]) {
      const { status, body } = await restOf(url, key).post('/transactions/sign', request);
      t.equal(status, 403);
      const message =
        key === ''
          ? 'No API key was given: send it in the header X-API-Key'
          : 'Provided API key is not correct';
      t.strictSame(body, { error: 2, message });
    }
  },

  async 'rest-api.privacy-api-key-hash'(t) {
    const read = (key: string) => restOf(url, key).get('/privacy/getData/4WGwzTd5');
    t.equal((await read(API_KEY)).status, 403, 'the key of the others does not open them');
    t.equal((await read('another key')).status, 403);
    const { status, body } = await read(PRIVACY_KEY);
    t.not(status, 403, JSON.stringify(body));
  },

  async 'rest-api.transactions-by-address-limit'(t) {
    const list = (limit: number) =>
      rest.get(`/transactions/address/${owner.address}/limit/${limit}`);
    t.equal((await list(LIMIT)).status, 200);
    const { status, body } = await list(LIMIT + 1);
    t.equal(status, 400);
    t.match(body, { error: 10 });
  },

  async 'data-directory'(t) {
    t.ok(existsSync(join(dataDirectory, 'chain')));
    const elsewhere = join(dir, 'moved.conf');
    writeFileSync(elsewhere, text);
    await run(['genesis', 'sign', elsewhere]);
    const moved = await startNode(t, elsewhere, {
      env,
      set: ['rest-api.port=0', `data-directory=${dir}/cleared`],
    });
    t.ok((await moved.rest.height()) >= 1, 'another network in an empty folder');
    await moved.stop();
    const set = ['--set', `data-directory=${dir}/cleared`];
    const mixed = await run(['start', config, ...set], { env });
    t.equal(mixed.code, 1);
    t.match(mixed.stderr, /Mismatched genesis blocks in configuration and blockchain/);
  },

  async 'scenario 109: reload-node-wallet of the account generator'(t) {
    const known = (await rest.get('/addresses')).body as string[];
    const quiet = join(dir, 'quiet.conf');
    writeFileSync(quiet, text.replace('enabled = yes, ', ''));
    const untold = await run(['keystore', 'generate', quiet, '--yes']);
    t.equal(untold.code, 0, untold.stderr);
    t.strictSame((await rest.get('/addresses')).body, known, 'the default tells nobody');

    const told = await run(['keystore', 'generate', config, '--yes']);
    t.equal(told.code, 0, told.stderr);
    t.match(told.stderr, /Response Code : 200\n.*Wallet reloaded successfully/);
    const made = [untold, told].map(({ stdout }) => /"address":"(\w+)"/.exec(stdout)?.[1]);
    t.strictSame((await rest.get('/addresses')).body, [...known, ...made], 'without a restart');

    const wallet = readFileSync(walletFile);
    writeFileSync(walletFile, wallet.subarray(0, wallet.length / 2));
    const broken = await rest.post('/utils/reload-wallet');
    t.equal(broken.status, 400);
    t.strictSame((await rest.get('/addresses')).body, [...known, ...made], 'the old one stays');
    const signed = await rest.post(`/addresses/signText/${other.address}`, { message: 'hello' });
    t.equal(signed.status, 200, 'and signs');
    writeFileSync(walletFile, wallet);
    t.equal((await rest.post('/utils/reload-wallet')).status, 200);
  },

  async 'PLATFORM_NODE_OWNER_PASSWORD, PLATFORM_NODE_OWNER_PASSWORD_EMPTY'(t) {
    const tried = (values: Record<string, string>) =>
      run(['start', config, '--set', `data-directory=${dir}/empty`], { env: values });
    const empty = await tried({ PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' });
    t.equal(empty.code, 1);
    t.match(empty.stderr, /Expected password/);
    const unset = await tried({ PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'false' });
    t.equal(unset.code, 1);
    t.match(unset.stderr, /PLATFORM_NODE_OWNER_PASSWORD, which is not set/);
    const unclear = await tried({ PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'perhaps' });
    t.equal(unclear.code, 1);
    t.match(unclear.stderr, /expected true or false/);
  },

  // It moves money, so those that count it come first.
  async 'privacy.owner-address'(t) {
    const recipients = [owner.address, other.address];
    const policy = await rest.broadcast(
      await rest.sign({
        ...{ type: 112, version: 1, policyName: 'p', description: '', recipients },
        ...{ sender: owner.address, password: OWNER_PASSWORD, owners: [owner.address] },
      }),
    );
    await rest.mined(policy['id']);
    const send = (sender: object) =>
      restOf(url, PRIVACY_KEY).post('/privacy/sendData', {
        ...sender,
        policyId: policy['id'],
        info: { filename: '', size: '5', timestamp: 1, author: '', comment: '' },
        data: Buffer.from('hello').toString('base64'),
        hash: createHash('sha256').update('hello').digest('hex'),
      });
    const refused = await send({ sender: owner.address, password: OWNER_PASSWORD });
    t.match(refused, { status: 400, body: { error: 199, message: /is not the owner/ } });
    t.match(await send({ sender: other.address }), { status: 200, body: { type: 114 } });
  },
};

const addressOf = ({ address }: { address: string }): string => address;

/** The line a node prints when it has started, from a node that serves no REST. */
async function startWithoutRest(t: Test, set: readonly string[]): Promise<string> {
  const silent = await startNode(t, config, { env, set });
  const line = silent
    .log()
    .split('\n')
    .find((one) => one.includes('node.started'));
  t.equal((await silent.stop()).code, 0);
  return String(line);
}

for (const [row, shown] of Object.entries(rows)) {
  if (typeof shown === 'string') t.test(row, { skip: `until ${shown}` }, async () => {});
  else t.test(row, shown);
}

t.test('an orderly end', async (t) => {
  t.equal((await node.stop()).code, 0);
});
