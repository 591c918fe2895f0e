/**
 * A network of four nodes with the national-standard cryptography: transactions of the clients'
 * library in its national mode, confidential data, scripts, key files and commands.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { create, MAINNET_CONFIG } from '@wavesenterprise/js-sdk';
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { createFamily } from '../../../src/crypto/families.ts';
import { createScripts } from '../../../src/script/script.ts';
import { run } from '../../cli/run.ts';
import { type Account, startDevNetwork, temporaryFolder } from './dev-node.ts';
import { eventually } from './process.ts';
import { restOf } from './rest.ts';

interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** What the types of the library leave out or get wrong. */
interface Sdk {
  readonly Seed: { fromExistingPhrase(phrase: string): { address: string; keyPair: KeyPair } };
  readonly API: {
    readonly Transactions: Readonly<
      Record<
        'Transfer' | 'MassTransfer' | 'Issue' | 'CreateAlias' | 'Data',
        Readonly<
          Record<string, (fields: object) => { getSignedTx(keys: KeyPair): Promise<JsonObject> }>
        >
      >
    >;
  };
}

const FEE = 1_000_000;
const EXTRA_FEE = 400_000;
const family = createFamily('gost');
const dir = temporaryFolder(t);
const options = ['--nodes', '4', '--crypto', 'national', '--dir', dir, '--keep'];
const network = await startDevNetwork(t, options);
const { rests, owners, accounts } = network;
const { chainId, nodes } = JSON.parse(network.command.stdout()) as {
  chainId: string;
  nodes: { privacyApiKey: string }[];
};
/** Accounts that own no node; every node has their keys. */
const [alice, bob, carol] = accounts.slice(4) as [Account, Account, Account];

const sdk = create({
  initialConfiguration: {
    ...MAINNET_CONFIG,
    networkByte: chainId.charCodeAt(0),
    crypto: 'gost',
    nodeAddress: rests[0]!.url,
  },
  fetchInstance: fetch,
} as never) as unknown as Sdk;

/** Resolves when every node has it in a block. */
async function confirmed(tx: JsonObject, from = 0): Promise<JsonObject> {
  const { id } = await rests[from]!.broadcast(tx);
  const everywhere = await Promise.all(rests.map((rest) => rest.mined(id)));
  return everywhere[0]!;
}

t.test('four nodes make one chain', async (t) => {
  for (const { get } of rests) {
    t.match((await get('/node/config')).body, { 'platform-crypto': false, gostCrypto: true });
    await eventually('all connections', async () =>
      ((await get('/peers/connected')).body as { peers: unknown[] }).peers.length === 3
        ? true
        : undefined,
    );
  }
  const publicKey = base58.decode(accounts[0]!.publicKey);
  t.equal(publicKey.length, 64);
  const keys = readdirSync(join(dir, 'node-1', 'keystore.dat'));
  t.equal(keys.length, 5, 'one file for each account of the node');
  t.ok(keys.includes(`${accounts[0]!.publicKey}.key`));
});

t.test('transactions of the client library', async (t) => {
  const { address, keyPair } = sdk.Seed.fromExistingPhrase(alice.seed);
  t.equal(address, alice.address, 'the same keys');
  t.equal(keyPair.publicKey, alice.publicKey);
  const { Transfer, MassTransfer, CreateAlias, Data } = sdk.API.Transactions;
  const timestamp = Date.now();
  const made: JsonObject[] = [
    await Transfer['V2']!({
      recipient: bob.address,
      assetId: '',
      amount: 7,
      fee: FEE,
      attachment: '',
      timestamp,
    }).getSignedTx(keyPair),
    await MassTransfer['V1']!({
      assetId: '',
      transfers: [{ recipient: bob.address, amount: 5 }],
      attachment: '',
      fee: 6_000_000,
      timestamp,
    }).getSignedTx(keyPair),
    await CreateAlias['V2']!({ alias: 'national', fee: 100_000_000, timestamp }).getSignedTx(
      keyPair,
    ),
    await Data['V1']!({
      data: [{ key: 'a', type: 'string', value: 'б' }],
      authorPublicKey: keyPair.publicKey,
      fee: 5_000_000,
      timestamp,
    }).getSignedTx(keyPair),
  ];
  for (const [i, tx] of made.entries()) {
    const { sender, senderPublicKey } = await confirmed(tx, i);
    t.strictSame([sender, senderPublicKey], [alice.address, alice.publicKey], `type ${tx['type']}`);
  }
  const forged = { ...made[0], amount: 8 };
  const { status, body } = await rests[1]!.post('/transactions/broadcast', forged);
  t.equal(status, 400);
  t.match(body, { message: /[Pp]roof/ });
});

t.test('signed messages', async (t) => {
  const text = 'Се ветри';
  const signed = (await rests[0]!.post(`/addresses/signText/${alice.address}`, { message: text }))
    .body;
  const { publicKey, signature } = signed as Record<string, string>;
  const bytes = [publicKey!, new TextEncoder().encode(text), signature!] as const;
  t.ok(family.verify(base58.decode(bytes[0]), bytes[1], base58.decode(bytes[2])));
});

t.test('encrypted texts', async (t) => {
  const request = {
    sender: alice.address,
    encryptionText: 'секрет',
    recipientsPublicKeys: [bob.publicKey],
  };
  const { body } = await rests[0]!.post('/crypto/encryptSeparate', {
    ...request,
    cryptoAlgo: 'gost-3412-2015-k',
  });
  const aes = { ...request, cryptoAlgo: 'aes' };
  t.equal((await rests[0]!.post('/crypto/encryptSeparate', aes)).status, 400);
  const [one] = body as { encryptedText: string; wrappedKey: string }[];
  const back = await rests[1]!.post('/crypto/decrypt', {
    recipient: bob.address,
    encryptedText: one!.encryptedText,
    wrappedKey: one!.wrappedKey,
    senderPublicKey: alice.publicKey,
  });
  t.match(back.body, { decryptedText: 'секрет' });
});

t.test('confidential data', async (t) => {
  const members = [owners[0]!, owners[1]!];
  const policy = await rests[0]!.sign({
    type: 112,
    sender: owners[0],
    policyName: 'national',
    description: '',
    recipients: members,
    owners: [owners[0]],
  });
  const { id: policyId } = await confirmed(policy);
  const data = randomBytes(300_000);
  const hash = base58.encode(createHash('sha256').update(data).digest());
  const privately = (node: number) => restOf(rests[node]!.url, nodes[node]!.privacyApiKey);
  const sent = await privately(0).post('/privacy/sendData', {
    sender: owners[0],
    policyId,
    type: 'file',
    info: { filename: 'a', size: String(data.length), timestamp: 1, author: '', comment: '' },
    data: data.toString('base64'),
    hash,
  });
  t.equal(sent.status, 200);
  const read = async (node: number): Promise<boolean> => {
    const { status, body } = await privately(node).get(`/privacy/getData/${hash}`);
    return status === 200 && Buffer.from(String(body), 'base64').equals(data);
  };
  await eventually('the data at the other member', async () => (await read(1)) || undefined);
  t.notOk(await read(2), 'not at another node');
});

t.test('scripts', async (t) => {
  const source = 'sigVerify(tx.bodyBytes, tx.proofs[0], tx.senderPublicKey)';
  const script = createScripts(family.secureHash).compile(source, 'account');
  const base64 = `base64:${Buffer.from(script.bytes).toString('base64')}`;
  const setScript = { type: 13, version: 1, name: 'guard', description: '', fee: 50_000_000 };
  const tx = await rests[2]!.sign({ ...setScript, sender: carol.address, script: base64 });
  await confirmed(tx, 2);
  const { Transfer } = sdk.API.Transactions;
  const { keyPair } = sdk.Seed.fromExistingPhrase(carol.seed);
  const pay = (fee: number) =>
    Transfer['V2']!({
      recipient: bob.address,
      assetId: '',
      amount: 3,
      fee,
      attachment: '',
      timestamp: Date.now(),
    }).getSignedTx(keyPair);
  await confirmed(await pay(FEE + EXTRA_FEE), 1);
  const stolen = { ...(await pay(FEE + EXTRA_FEE)), amount: 4 };
  const { status } = await rests[3]!.post('/transactions/broadcast', stolen);
  t.equal(status, 400, 'sigVerify checks with the cryptography of the network');
});

t.test('commands', async (t) => {
  const config = join(dir, 'node-1', 'node.conf');
  const file = join(dir, 'chain.bin');
  t.strictSame(await network.stop(), { code: 0, signal: null });
  t.equal((await run(['chain', 'export', config, file])).code, 0);
  const into = `data-directory=${join(dir, 'copy')}`;
  const again = await run(['chain', 'import', config, file, '--keep-note', '--set', into]);
  t.equal(again.code, 0, again.stderr);
  const hash = await run(['chain', 'hash', config]);
  const [first, second] = [hash, again].map(({ stdout }) => JSON.parse(stdout) as JsonObject);
  t.equal(first!['stateHash'], second!['stateHash'], 'every check on the way gives the same state');
  const other = await run(['dev', '--dir', dir, '--keep', '--crypto', 'international']);
  t.match(other.stderr, /national cryptography and finality, which cannot be changed/);
});
