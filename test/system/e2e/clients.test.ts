/**
 * The unmodified client libraries that applications of such networks use: each builds and signs
 * transactions by itself, sends them to a running node and reads them back.
 */
import {
  alias,
  broadcast,
  burn,
  cancelLease,
  data,
  invokeScript,
  issue,
  lease,
  libs,
  massTransfer,
  nodeInteraction,
  reissue,
  setAssetScript,
  setScript,
  sponsorship,
  transfer,
  updateAssetInfo,
} from '@waves/waves-transactions';
import { create, MAINNET_CONFIG } from '@wavesenterprise/js-sdk';
import t from 'tap';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { type Account, startDevNode } from './dev-node.ts';
import { eventually } from './process.ts';

const { rest, accounts, chainId } = await startDevNode(t, { round: '300ms' });
const [owner, first, second, third] = accounts as [Account, Account, Account, Account];
/** Of a whole network with default fees. */
const fees = {
  issue: 100_000_000,
  transfer: 1_000_000,
  reissue: 100_000_000,
  burn: 5_000_000,
  lease: 1_000_000,
  alias: 100_000_000,
  massTransferOfTwo: 6_000_000,
  data: 5_000_000,
  permit: 1_000_000,
  setScript: 50_000_000,
} as const;
// Even, since one of the libraries reads balances as floating-point numbers.
const AMOUNT = 123_456_788;

/** What the types of the library leave out or get wrong; the library itself is used as it is. */
interface Sdk {
  readonly Seed: { fromExistingPhrase(phrase: string): { address: string; keyPair: KeyPair } };
  readonly API: {
    readonly Transactions: Readonly<
      Record<string, Readonly<Record<string, (fields: object) => SdkTransaction>>>
    >;
    readonly Node: {
      readonly transactions: {
        get(id: string): Promise<JsonObject>;
        getList(address: string, limit: number): Promise<JsonObject[]>;
        utxSize(): Promise<{ size: number }>;
        utxGetList(): Promise<JsonObject[]>;
        utxGet(id: string): Promise<JsonObject>;
      };
      readonly addresses: {
        balance(address: string): Promise<{ balance: unknown }>;
        balanceDetails(address: string): Promise<unknown>;
        data(address: string): Promise<JsonObject[]>;
      };
      readonly aliases: {
        byAlias(name: string): Promise<{ address: string }>;
        byAddress(address: string): Promise<string[]>;
      };
      readonly assets: {
        balance(address: string, id: string): Promise<{ balance: unknown }>;
        distribution(id: string): Promise<JsonObject>;
      };
      readonly leasing: { getAllActiveLeases(address: string): Promise<JsonObject[]> };
      readonly blocks: {
        height(): Promise<{ height: number }>;
        last(): Promise<JsonObject>;
      };
    };
  };
  readonly tools: { readonly data: SdkEncryption };
}

interface SdkEncryption {
  encryptSeparate(publicKeys: string[], privateKey: string, text: string): Encrypted[];
  encryptCommon(publicKeys: string[], privateKey: string, text: string): Encrypted[];
  decrypt(privateKey: string, publicKey: string, text: string, wrappedKey: string): string;
}

interface EncryptedForAll {
  readonly encryptedText: string;
  readonly recipientToWrappedStructure: Readonly<Record<string, string>>;
}

interface Encrypted {
  readonly encryptedText: string;
  readonly wrappedKey: string;
  readonly publicKey: string;
}

interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

interface SdkTransaction {
  getId(): Promise<string>;
  getSignedTx(keys: KeyPair): Promise<JsonObject>;
  broadcast(keys: KeyPair): Promise<JsonObject>;
}

// With its own fetch, which asks for the end of the connection with every request.
const sdk = create({
  initialConfiguration: {
    ...MAINNET_CONFIG,
    networkByte: chainId.charCodeAt(0),
    crypto: 'waves',
    nodeAddress: rest.url,
  },
} as never) as unknown as Sdk;

const sdkBalance = async (address: string): Promise<bigint> =>
  BigInt(String((await sdk.API.Node.addresses.balance(address)).balance));

/** The newest versions of this library are for other networks. */
const about = { version: 2, chainId };

const WAIT = { apiBase: rest.url, timeout: 60_000 };

t.test('js-sdk: a transfer is broadcast, mined and read back', async (t) => {
  const seed = sdk.Seed.fromExistingPhrase(first.seed);
  t.equal(seed.address, first.address, 'both derive the same address');
  const { addresses, transactions, blocks } = sdk.API.Node;
  const recipient = second.address;
  const before = await sdkBalance(recipient);

  const tx = sdk.API.Transactions['Transfer']!['V2']!({
    recipient,
    amount: AMOUNT,
    fee: fees.transfer,
    timestamp: Date.now(),
    attachment: '',
  });
  const sent = await tx.broadcast(seed.keyPair);
  t.match(sent, { type: 4, version: 2, sender: seed.address, recipient, amount: AMOUNT });
  t.equal(sent['id'], await tx.getId(), 'both compute the same id');

  const { height } = await rest.mined(sent['id']);
  const { final, ...mined } = await transactions.get(String(sent['id']));
  t.strictSame(mined, { ...sent, height });
  t.type(final, 'boolean', 'votes decide');
  t.equal((await sdkBalance(recipient)) - before, BigInt(AMOUNT));
  t.match(await addresses.balanceDetails(first.address), [{ address: first.address }]);
  t.equal((await transactions.getList(recipient, 1))[0]?.['id'], sent['id']);
  t.notOk((await transactions.utxGetList()).some(({ id }) => id === sent['id']));
  t.type((await transactions.utxSize()).size, 'number');
  t.ok((await blocks.height()).height >= Number(height));
});

t.test('js-sdk: what one side encrypts the other decrypts', async (t) => {
  const { encryptSeparate, encryptCommon, decrypt } = sdk.tools.data;
  const keysOf = ({ seed }: Account) => sdk.Seed.fromExistingPhrase(seed).keyPair;
  const [sender, recipient] = [keysOf(first), keysOf(second)];
  const publicKeys = [keysOf(third).publicKey, recipient.publicKey];
  for (const text of ['short', '', 'Ünïcödé 🗝 '.repeat(3000)]) {
    for (const encrypt of [encryptSeparate, encryptCommon]) {
      const [, { encryptedText, wrappedKey }] = encrypt(publicKeys, sender.privateKey, text) as [
        Encrypted,
        Encrypted,
      ];
      const request = { recipient: second.address, senderPublicKey: sender.publicKey };
      const answer = await rest.post('/crypto/decrypt', { ...request, encryptedText, wrappedKey });
      t.strictSame(answer.body, { decryptedText: text });
    }

    const request = {
      sender: first.address,
      encryptionText: text,
      recipientsPublicKeys: publicKeys,
    };
    const separate = (await rest.post('/crypto/encryptSeparate', request)).body;
    const [, one] = separate as [Encrypted, Encrypted];
    const open = (encryptedText: string, wrappedKey: string): string =>
      decrypt(recipient.privateKey, sender.publicKey, encryptedText, wrappedKey);
    t.equal(open(one.encryptedText, one.wrappedKey), text);
    const common = (await rest.post('/crypto/encryptCommon', request)).body as EncryptedForAll;
    const wrapped = common.recipientToWrappedStructure[recipient.publicKey]!;
    t.equal(open(common.encryptedText, wrapped), text);
  }
});

t.test('js-sdk: a transaction that waits is found in the pool', async (t) => {
  const keys = sdk.Seed.fromExistingPhrase(second.seed).keyPair;
  const { transactions } = sdk.API.Node;
  const send = () =>
    sdk.API.Transactions['Transfer']!['V2']!({
      recipient: first.address,
      amount: 2,
      fee: fees.transfer,
      timestamp: Date.now(),
      attachment: '',
    }).broadcast(keys);
  // A block may come between the two requests, but not every time.
  const seen = await eventually('a transaction in the pool', async () => {
    const sent = await send();
    const [waiting, one] = await Promise.all([
      transactions.utxGetList(),
      transactions.utxGet(String(sent['id'])).catch(() => undefined),
    ]);
    const listed = waiting.find(({ id }) => id === sent['id']);
    return listed && one && { sent, listed, one };
  });
  t.strictSame(seen.listed, seen.sent);
  t.strictSame(seen.one, seen.sent);
  await rest.mined(seen.sent['id']);
});

t.test('js-sdk: the other types', async (t) => {
  const { keyPair } = sdk.Seed.fromExistingPhrase(owner.seed);
  const { addresses, aliases, assets, leasing, transactions } = sdk.API.Node;

  async function send(name: string, version: string, fields: object): Promise<JsonObject> {
    const timestamp = Date.now();
    const networkByte = chainId.charCodeAt(0);
    const common = { timestamp, chainId: networkByte };
    const tx = sdk.API.Transactions[name]![version]!({ ...common, ...fields });
    const sent = await tx.broadcast(keyPair);
    const { height } = await rest.mined(sent['id']);
    const mined = await transactions.get(String(sent['id']));
    t.match(mined, { ...sent, height }, `${name} is read back as it was accepted`);
    return mined;
  }

  const { id: assetId } = await send('Issue', 'V2', {
    name: 'Tickets',
    description: 'one each',
    quantity: 1_000_000,
    decimals: 2,
    reissuable: true,
    fee: fees.issue,
  });
  await send('Reissue', 'V2', { assetId, quantity: 500, reissuable: false, fee: fees.reissue });
  await send('Burn', 'V2', { assetId, amount: 10, fee: fees.burn });
  t.match(await assets.balance(owner.address, String(assetId)), { balance: 1_000_490 });

  const name = `sdk_${Date.now()}`;
  await send('CreateAlias', 'V2', { alias: name, fee: fees.alias });
  t.equal((await aliases.byAlias(name)).address, owner.address);
  t.strictSame(await aliases.byAddress(owner.address), [`alias:${chainId}:${name}`]);

  const { id: leaseId } = await send('Lease', 'V2', {
    recipient: third.address,
    amount: AMOUNT,
    fee: fees.lease,
  });
  const isActive = ({ id, status }: JsonObject) => id === leaseId && status === 'active';
  t.ok((await leasing.getAllActiveLeases(third.address)).some(isActive));
  await send('LeaseCancel', 'V2', { leaseId, fee: fees.lease });
  t.notOk((await leasing.getAllActiveLeases(third.address)).some(isActive));

  await send('MassTransfer', 'V1', {
    assetId,
    transfers: [first, third].map(({ address }) => ({ recipient: address, amount: 5 })),
    attachment: '',
    fee: fees.massTransferOfTwo,
  });
  t.match(await assets.distribution(String(assetId)), { [first.address]: 5, [third.address]: 5 });

  const entry = { key: 'temperature', type: 'integer', value: -40 };
  await send('Data', 'V1', {
    author: owner.address,
    authorPublicKey: owner.publicKey,
    data: [entry],
    fee: fees.data,
  });
  t.strictSame(await addresses.data(owner.address), [entry]);

  await send('Permit', 'V1', {
    target: third.address,
    opType: 'add',
    role: 'issuer',
    // The library forgets to sign the time of the operation unless it is given twice.
    duplicate_timestamp: Date.now(),
    fee: fees.permit,
  });
  const roles = await rest.get(`/permissions/${third.address}`);
  t.match(roles.body, { roles: [{ role: 'issuer' }] });
});

t.test('waves-transactions: a transfer is broadcast, mined and read back', async (t) => {
  const { seed } = first;
  t.equal(libs.crypto.address(seed, chainId), first.address, 'both derive the same address');
  const recipient = second.address;
  const before = BigInt(await nodeInteraction.balance(recipient, rest.url));

  const signed = transfer(
    { ...about, recipient, amount: AMOUNT, fee: fees.transfer, attachment: '' },
    seed,
  );
  const sent = await broadcast(signed, rest.url);
  t.match(sent, { id: signed.id, type: 4, version: 2, sender: first.address, recipient });

  const waited = await nodeInteraction.waitForTx(signed.id, WAIT);
  t.match(waited, { id: signed.id, height: Number, proofs: signed.proofs, amount: AMOUNT });
  t.match(await nodeInteraction.transactionById(signed.id, rest.url), { id: signed.id });
  const after = BigInt(await nodeInteraction.balance(recipient, rest.url));
  t.equal(after - before, BigInt(AMOUNT));
  t.ok((await nodeInteraction.currentHeight(rest.url)) > 1);
});

t.test('waves-transactions: the other types', async (t) => {
  const { seed } = owner;
  async function send(tx: Parameters<typeof broadcast>[0]): Promise<string> {
    const { id } = await broadcast(tx, rest.url);
    t.equal(id, tx.id, `type ${tx.type}: both compute the same id`);
    const mined = await nodeInteraction.waitForTx(id, WAIT);
    t.match(mined, { id, type: tx.type, height: Number });
    return id;
  }

  const assetId = await send(
    issue(
      {
        ...about,
        name: 'Stamps',
        description: 'with a picture',
        quantity: 1000,
        decimals: 0,
        reissuable: true,
        fee: fees.issue,
      },
      seed,
    ),
  );
  await send(
    reissue({ ...about, assetId, quantity: 5, reissuable: true, fee: fees.reissue }, seed),
  );
  await send(burn({ ...about, assetId, amount: 2, fee: fees.burn }, seed));
  const { address } = owner;
  t.equal(Number(await nodeInteraction.assetBalance(assetId, address, rest.url)), 1003);

  const name = `waves_${Date.now()}`;
  await send(alias({ ...about, alias: name, fee: fees.alias }, first.seed));
  await send(
    transfer(
      { ...about, recipient: `alias:${chainId}:${name}`, amount: 1, fee: fees.transfer },
      seed,
    ),
  );
  const leaseId = await send(
    lease({ ...about, recipient: third.address, amount: AMOUNT, fee: fees.lease }, seed),
  );
  await send(cancelLease({ ...about, leaseId, fee: fees.lease }, seed));
  const transfers = [first, second].map((one) => ({ recipient: one.address, amount: 3 }));
  await send(massTransfer({ ...about, version: 1, transfers, fee: fees.massTransferOfTwo }, seed));
});

t.test('waves-transactions: what belongs to Waves alone is refused, and says why', async (t) => {
  const { seed } = owner;
  const some = { chainId, fee: fees.issue };
  const assetId = owner.publicKey;
  const recipient = second.address;
  const script = 'AQa3b8tH';
  const refused = (tx: Parameters<typeof broadcast>[0], error: { message: RegExp }) =>
    t.rejects(broadcast(tx, rest.url), error, `${tx.type} of version ${tx['version']}`);
  const badType = { error: 199, message: /^Bad transaction type/ };
  const call = { dApp: recipient, call: { function: 'f', args: [] }, payment: [] };
  for (const version of [1, 2])
    await refused(invokeScript({ ...some, version, ...call }, seed), badType);
  await refused(
    updateAssetInfo({ ...some, assetId, name: 'Other', description: '' }, seed),
    badType,
  );
  await refused(setScript({ ...some, script }, seed), badType);
  await refused(setAssetScript({ ...some, assetId, script }, seed), badType);
  const nameless = {
    ...{ error: 1, message: /^failed to parse/ },
    validationErrors: { 'obj.name': [{ msg: ['error.path.missing'] }] },
  };
  await refused(setScript({ ...some, version: 1, script }, seed), nameless);

  // Both ledgers have these versions, with other bytes.
  const otherBytes = { error: 112, message: /proof doesn't validate as signature/ };
  const entry = { key: 'k', type: 'integer', value: 1 };
  const newest = [
    transfer({ ...some, recipient, amount: 1 }, seed),
    massTransfer({ ...some, transfers: [{ recipient, amount: 1 }] }, seed),
    sponsorship({ ...some, assetId, minSponsoredAssetFee: 1 }, seed),
    data({ ...some, data: [entry] }, seed),
    data({ ...some, version: 1, data: [entry] }, seed),
    setAssetScript({ ...some, version: 1, assetId, script }, seed),
  ];
  for (const tx of newest) await refused(tx, otherBytes);
});

/** A script that the node compiles. */
async function compiled(source: string, query = ''): Promise<string> {
  const answer = await fetch(`${rest.url}/utils/script/compile${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'text/plain' },
    body: source,
  });
  const { script } = (await answer.json()) as { readonly script: string };
  return script;
}

const SCRIPT_EXTRA = 400_000;

t.test('js-sdk sets a script, waves-transactions signs for it with two keys', async (t) => {
  const { keyPair } = sdk.Seed.fromExistingPhrase(second.seed);
  const byBoth = [second, third]
    .map(({ publicKey }, i) => `sigVerify(tx.bodyBytes, tx.proofs[${i}], base58'${publicKey}')`)
    .join(' && ');
  const script = await compiled(byBoth);
  const timestamp = Date.now();
  const common = { timestamp, chainId: chainId.charCodeAt(0) };
  const about13 = { script, name: 'two keys', description: '', fee: fees.setScript };
  const set = sdk.API.Transactions['SetScript']!['V1']!({ ...common, ...about13 });
  await rest.mined((await set.broadcast(keyPair))['id']);
  const info = await rest.get(`/addresses/scriptInfo/${second.address}`);
  t.match(info.body, { script, complexity: 225, extraFee: SCRIPT_EXTRA });

  const fee = fees.transfer + SCRIPT_EXTRA;
  const senderPublicKey = second.publicKey;
  const pay = { ...about, senderPublicKey, recipient: first.address, amount: 7, fee };
  const denied = broadcast(transfer(pay, [second.seed]), rest.url);
  await t.rejects(denied, { error: 307, message: 'Transaction is not allowed by account-script' });
  const { id } = await broadcast(transfer(pay, [second.seed, third.seed]), rest.url);
  t.match(await nodeInteraction.waitForTx(id, WAIT), { id, height: Number });
});

t.test('waves-transactions: an asset that only one account may receive', async (t) => {
  const source = `match tx {
    case t: TransferTransaction => t.recipient == Address(base58'${third.address}')
    case m: MassTransferTransaction => false
    case _ => true
  }`;
  const script = await compiled(source, '?assetScript=true');
  const about3 = { name: 'Badge', description: '', quantity: 10, decimals: 0, reissuable: false };
  const issued = issue({ ...about, ...about3, script, fee: fees.issue }, owner.seed);
  const { id: assetId } = await broadcast(issued, rest.url);
  await nodeInteraction.waitForTx(assetId, WAIT);
  const details = await rest.get(`/assets/details/${assetId}`);
  t.match(details.body, { scripted: true, script, scriptText: /^BLOCK/, extraFee: SCRIPT_EXTRA });

  const give = (recipient: string) =>
    transfer(
      { ...about, assetId, recipient, amount: 1, fee: fees.transfer + SCRIPT_EXTRA },
      owner.seed,
    );
  await t.rejects(broadcast(give(first.address), rest.url), {
    error: 307,
    message: 'Transaction is not allowed by token-script',
  });
  const { id } = await broadcast(give(third.address), rest.url);
  t.match(await nodeInteraction.waitForTx(id, WAIT), { id });
});
