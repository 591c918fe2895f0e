/**
 * Every transaction of every version that @wavesenterprise/js-sdk has, made, signed and sent by it, and
 * mined by a node of a new network. docs/guide/clients.md has the table that this makes.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { create, MAINNET_CONFIG } from '@wavesenterprise/js-sdk';
import t from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import type { JsonObject } from '../../src/base/json/json.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import { runsContract } from '../../src/tx/members.ts';
import { types } from '../../src/tx/registry.ts';
import { featureName } from '../../src/tx/rules/features.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { sealedForBlock } from '../../src/tx/types/120-atomic.ts';
import { seededRandom } from '../crypto/random.ts';
import { restOf } from '../system/e2e/rest.ts';
import { ROUND_MS, wholeNode } from './in-process.ts';

type Fields = Readonly<Record<string, unknown>>;

interface KeyPair {
  readonly publicKey: string;
}

interface SdkTransaction {
  readonly val: Readonly<Record<string, { readonly required: boolean; readonly type?: number }>>;
  broadcast(keys: KeyPair): Promise<JsonObject>;
  getId(): Promise<string>;
}

type Factories = Readonly<Record<string, (fields: Fields) => SdkTransaction>>;

interface Sdk {
  readonly Seed: { fromExistingPhrase(phrase: string): { address: string; keyPair: KeyPair } };
  readonly API: {
    readonly Transactions: Readonly<Record<string, Factories>> & {
      broadcastAtomic(tx: SdkTransaction, keys: KeyPair): Promise<JsonObject>;
      readonly Atomic: { V1(fields: Fields): SdkTransaction & { transactions: SdkTransaction[] } };
    };
  };
  readonly tools: { readonly base58: { encode(text: string): string } };
}

const whole = await wholeNode(t, {
  http: httpListener,
  set: ['miner.enable=no'],
  privateData: true,
});
const [owner, other] = whole.accounts;
const rest = restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.privacyApiKey);
const sdk = create({
  initialConfiguration: {
    ...MAINNET_CONFIG,
    networkByte: 'T'.charCodeAt(0),
    crypto: 'waves',
    nodeAddress: `http://127.0.0.1:${whole.node.rest!.port}`,
  },
  fetchInstance: fetch,
} as never) as unknown as Sdk;
const seed = sdk.Seed.fromExistingPhrase('an account of the library');
/** Its only role is that of a developer, so that it may have a script. */
const scripted = sdk.Seed.fromExistingPhrase('an account with a script');
const { Transactions } = sdk.API;
let serial = 0;

async function mine(...more: Tx[]): Promise<void> {
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock(...more);
}

/** Gives the account of the library funds and every role that a sender may need. */
async function prepare(): Promise<void> {
  const recipient = seed.address;
  for (const { address } of [seed, scripted]) {
    const amount = 500_000_000_000;
    await whole.send(owner, { type: 4, version: 2, recipient: address, amount, attachment: '' });
  }
  const developer = { opType: 'add', role: 'contract_developer', dueTimestamp: null };
  await whole.send(owner, { type: 102, target: scripted.address, ...developer });
  for (const role of ['issuer', 'contract_developer', 'connection_manager', 'permissioner']) {
    const permit = {
      opType: 'add',
      role,
      dueTimestamp: null,
      timestamp: whole.clock.now() + serial++,
    };
    await whole.send(owner, { type: 102, target: recipient, ...permit });
  }
  await mine();
}

/** Sends it, mines it, and executes it where it is for a contract. Returns its id. */
async function sent(send: () => Promise<JsonObject>): Promise<string> {
  const { id } = await send();
  const tx = [...whole.node.pool.list()].find(runsContract);
  await mine(...(tx === undefined ? [] : [executed(tx)]));
  const { body } = await rest.get(`/transactions/info/${id}`);
  if ((body as JsonObject)['id'] !== id && tx?.def.executable !== true)
    throw new Error(JSON.stringify(body));
  return String(id);
}

/** What the block holds for it. */
function executed(tx: Tx): Tx {
  if (tx.def.members !== undefined) return sealedForBlock(tx, ownerSigner, resultIn);
  const results: JsonObject[] = [];
  return whole.make(owner, { type: 105, tx: txToJson(tx, whole.scheme), results, fee: 0 });
}

const resultIn = (member: Tx): Tx => (member.def.executable === true ? executed(member) : member);

const ownerSigner = {
  publicKey: owner.publicKey,
  sign: (message: Uint8Array) =>
    whole.family.sign(owner.privateKey, message, seededRandom('seals')),
};

const common = () => ({
  ...{ timestamp: whole.clock.now() + serial++, fee: 200_000_000, chainId: 84 },
  ...{ attachment: '', name: 'Tickets', description: 'one each', decimals: 2, reissuable: true },
});
/** An account has one alias, and one with a script sends nothing but what that permits. */
const OF_OTHER = new Set(['CreateAlias.V3', 'SetScript.V1']);
const roles = ['issuer', 'permissioner'];
/** It is `true`. */
const SCRIPT = 'base64:AQa3b8tH';
const image = { image: 'sum:1', imageHash: 'ab'.repeat(32), contractName: 'sum', params: [] };
const send = (name: string, version: string, fields: Fields): Promise<string> =>
  sent(() =>
    Transactions[name]![version]!({ ...common(), ...fields }).broadcast(
      (OF_OTHER.has(`${name}.${version}`) ? scripted : seed).keyPair,
    ),
  );

/** What the transactions of each type need besides what all of them have. */
const needs: Readonly<Record<string, () => Fields | Promise<Fields>>> = {
  RegisterNode: () => ({
    ...{ targetPubKey: seed.keyPair.publicKey, nodeName: `n${serial}`, opType: 'add' },
  }),
  CreateAlias: () => ({ alias: `alias_${serial}` }),
  Issue: () => ({ quantity: 1000 }),
  Reissue: async () => ({ quantity: 5, assetId: await send('Issue', 'V2', { quantity: 1000 }) }),
  Burn: async () => ({ amount: 5, assetId: await send('Issue', 'V2', { quantity: 1000 }) }),
  Lease: () => ({ recipient: other.text, amount: 5 }),
  LeaseCancel: async () => ({
    leaseId: await send('Lease', 'V2', { recipient: other.text, amount: 5 }),
  }),
  SponsorFee: async () => ({
    ...{ isEnabled: true, assetId: await send('Issue', 'V2', { quantity: 1000 }) },
  }),
  SetAssetScript: async () => ({
    script: SCRIPT,
    assetId: await send('Issue', 'V2', { quantity: 1000, script: SCRIPT }),
  }),
  Data: () => ({
    ...{ authorPublicKey: seed.keyPair.publicKey, author: seed.address },
    data: [{ key: `k${serial}`, type: 'integer', value: 5 }],
  }),
  Transfer: () => ({ recipient: other.text, amount: 5 }),
  MassTransfer: () => ({ transfers: [{ recipient: other.text, amount: 5 }] }),
  Permit: () => ({
    ...{ target: other.text, opType: 'add', role: roles.pop() },
    duplicate_timestamp: whole.clock.now() + serial - 1,
  }),
  CreatePolicy: policyFields,
  UpdatePolicy: async () => ({
    policyId: await send('CreatePolicy', 'V1', policyFields()),
    ...{ recipients: [other.text], owners: [], opType: 'add' },
  }),
  PolicyDataHash: async () => {
    const policyId = await send('CreatePolicy', 'V1', policyFields());
    const data = Buffer.from(`secret ${serial}`);
    const hash = createHash('sha256').update(data).digest('hex');
    const info = { filename: 'f', size: data.length, timestamp: 1, author: 'a', comment: '' };
    const body = { sender: owner.text, policyId, hash, info, data: data.toString('base64') };
    const stored = (await rest.post('/privacy/sendData?broadcast=false', body)).body as JsonObject;
    return { policyId, dataHash: stored['dataHash'] };
  },
  CreateContract: () => ({ ...image, validationPolicy: { type: 'any' }, apiVersion: '1.0' }),
  CallContract: async () => ({ ...(await contract()), contractVersion: 1, params: [] }),
  DisableContract: contract,
  UpdateContract: async () => ({
    ...image,
    ...(await contract()),
    ...{ validationPolicy: { type: 'any' }, apiVersion: '1.0' },
  }),
  SetScript: () => ({ script: SCRIPT }),
};

function policyFields(): Fields {
  const recipients = [owner.text, seed.address];
  return { policyName: `p${serial}`, recipients, owners: [seed.address] };
}
async function contract(): Promise<Fields> {
  return { contractId: await send('CreateContract', 'V1', image) };
}

async function outcome(make: () => Promise<unknown>): Promise<string> {
  try {
    await make();
    return 'works';
  } catch (error) {
    const text = error instanceof Error ? error.message : JSON.stringify(error);
    const said = String((error as { data?: JsonObject }).data?.['message'] ?? text);
    return `refused: ${said}`;
  }
}

/** Every transaction that the typings of the library declare, as `Name.V1`. */
function declared(): readonly string[] {
  const url = new URL(
    '../../node_modules/@wavesenterprise/transactions-factory/dist/Transactions.d.ts',
    import.meta.url,
  );
  const found: string[] = [];
  let name = '';
  for (const line of readFileSync(url, 'utf8').split('\n')) {
    name = /^ {4}(\w+): \{$/.exec(line)?.[1] ?? name;
    const version = /^ {8}(V\d+): /.exec(line)?.[1];
    if (version !== undefined) found.push(`${name}.${version}`);
  }
  return found;
}

/** What the network needs beside the default features. */
function featureOf(type: number, version: string): string {
  const layout = types.get(type)?.layouts.find((one) => one.version === Number(version.slice(1)));
  const { feature } = layout ?? {};
  return feature === undefined || feature < 100 ? '' : `${feature} (${featureName(feature)})`;
}

t.test('every transaction of every version', async (t) => {
  await prepare();
  const rows: string[] = [];
  const names = Object.keys(Transactions).filter((name) => needs[name] !== undefined);
  for (const name of names) {
    for (const version of Object.keys(Transactions[name]!)) {
      const { type = 0 } = Transactions[name]![version]!({}).val['tx_type'] ?? {};
      const result = await outcome(async () => send(name, version, await needs[name]!()));
      rows.push(`| \`${name}.${version}\` | ${featureOf(type, version)} | ${result} |`);
    }
  }
  const shown = rows.map((row) => /`(.*?)`/.exec(row)![1]!);
  t.strictSame([...shown, 'Atomic.V1'].sort(), [...declared()].sort(), 'all that it declares');
  rows.push(...(await atomics()));
  // As the page of the library has it, quotation marks included; a text needs `base58.encode`.
  const written = { recipient: seed.address, assetId: '', amount: '10000', fee: '1000000' };
  for (const [how, attachment] of [
    ['text', 'Examples transfer attachment'],
    ['encoded', sdk.tools.base58.encode('Examples transfer attachment')],
  ] as const) {
    const tx = () => Transactions['Transfer']!['V3']!({ ...common(), ...written, attachment });
    const result = await outcome(() => sent(() => tx().broadcast(seed.keyPair)));
    rows.push(`| the first example of its page, attachment as ${how} | 140 | ${result} |`);
  }
  const made = rows.join('\n');
  const page = readFileSync(new URL('../../docs/guide/clients.md', import.meta.url), 'utf8');
  const table = /<!-- sdk -->\n[^\n]*\n[^\n]*\n([\s\S]*?)\n<!-- end -->/.exec(page)?.[1];
  t.equal(table, made);
});

t.test('ids as the library computes them', async (t) => {
  const user = sdk.Seed.fromExistingPhrase('an account without an alias');
  const funds = { recipient: user.address, amount: 1_000_000_000, attachment: '' };
  await whole.send(owner, { type: 4, version: 2, ...funds });
  await mine();
  const ids = async (name: string, version: string, fields: Fields): Promise<string[]> => {
    const tx = Transactions[name]![version]!({ ...common(), ...fields });
    const { id } = await tx.broadcast(user.keyPair);
    return [await tx.getId(), String(id)];
  };
  const [computed, known] = await ids('Transfer', 'V3', { recipient: other.text, amount: 5 });
  t.equal(computed, known);
  const [ofBody, ofAlias] = await ids('CreateAlias', 'V3', { alias: 'a_third_one' });
  t.not(ofBody, ofAlias, 'that of an alias is no hash of its body');
});

/** The container, alone and with what it may hold and what not. */
async function atomics(): Promise<string[]> {
  const badge = { atomicBadge: { trustedSender: seed.address } };
  const part = (name: string, version: string, fields: Fields): SdkTransaction =>
    Transactions[name]![version]!({ ...common(), ...badge, ...fields });
  const group = (...transactions: SdkTransaction[]): Promise<string> =>
    sent(() =>
      Transactions.broadcastAtomic(
        Object.assign(Transactions.Atomic.V1({ timestamp: whole.clock.now() }), { transactions }),
        seed.keyPair,
      ),
    );
  const pay = { recipient: other.text, amount: 5 };
  const two = await outcome(() => group(part('Transfer', 'V3', pay), part('Transfer', 'V3', pay)));
  const call = await outcome(async () =>
    group(
      part('Transfer', 'V3', pay),
      part('CallContract', 'V4', { ...(await needs['CallContract']!()) }),
    ),
  );
  const named = await outcome(() =>
    group(part('Transfer', 'V3', pay), part('CreateAlias', 'V3', { alias: 'in_a_group' })),
  );
  const alone = await outcome(() =>
    sent(() => part('Transfer', 'V3', pay).broadcast(seed.keyPair)),
  );
  // The library asks the node for the hash of the data, which its owner signs.
  const policyId = await send('CreatePolicy', 'V1', policyFields());
  const data = Buffer.from('the papers of a sale');
  const hash = createHash('sha256').update(data).digest('hex');
  const info = { filename: 'f', size: data.length, timestamp: 1, author: 'a', comment: '' };
  const papers = Object.assign(part('PolicyDataHash', 'V3', { policyId }), {
    ...{ apiKey: whole.privacyApiKey, sender: owner.text, hash, info },
    data: data.toString('base64'),
  });
  const sale = await outcome(() =>
    group(part('Transfer', 'V3', pay), part('Transfer', 'V3', pay), papers),
  );
  const of = featureOf(120, 'V1');
  return [
    `| \`Atomic.V1\` of transfers | ${of} | ${two} |`,
    `| \`Atomic.V1\` of transfers and a \`PolicyDataHash.V3\` | ${of} | ${sale} |`,
    `| \`Atomic.V1\` with a contract | ${of}, 1005 (${featureName(1005)}) | ${call} |`,
    `| \`Atomic.V1\` with a \`CreateAlias.V3\` | ${of} | ${named.replace(/'\w{40,}'/, '…')} |`,
    `| a member alone | ${of} | ${alone} |`,
  ];
}
