/**
 * Makes the objects for the placeholders of the cases on a live node, through its REST API alone.
 *
 * `bindBasics` only reads. `prepare` sends transactions from the node's first keystore account and,
 * for objects on the chain, waits until a block contains them.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { base58 } from '../../src/base/base58.ts';
import { concat } from '../../src/base/bytes.ts';
import { isObject, type JsonObject, parse, stringify } from '../../src/base/json/json.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { txFromJson } from '../../src/tx/json/encode.ts';
import { family } from '../family.ts';
import type { Bindings } from './bindings.ts';
import { call } from './runner.ts';

export interface Target {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly privacyApiKey: string;
  /** Passwords of the first and second keystore account, where they have one. */
  readonly password?: string;
  readonly password2?: string;
  readonly secureHash: (bytes: Uint8Array) => Uint8Array;
  /** An image whose creation writes the key `sum`; absent where the node executes no contracts. */
  readonly contractImage?: { readonly image: string; readonly imageHash: string };
  /** How long a block may take to come. */
  readonly waitMs?: number;
}

/** Kinds of `needs` that `prepare` can make. */
export type Made =
  | 'signed-message'
  | 'funded-account'
  | 'funded-account-without-role'
  | 'pool-tx'
  | 'two-confirmed-transfers'
  | 'active-lease'
  | 'asset'
  | 'sponsored-asset'
  | 'alias'
  | 'data-entry'
  | 'policy'
  | 'privacy-data'
  | 'scripted-account'
  | 'contract'
  /** Made with `contract`. */
  | 'contract-with-key';

const HOUR = 3_600_000;

async function json(method: string, url: string, body?: unknown, key?: string): Promise<unknown> {
  const headers = {
    'Content-Type': 'application/json',
    ...(key === undefined ? {} : { 'X-API-Key': key }),
  };
  const answer = await call(method, url, headers, body === undefined ? undefined : stringify(body));
  if (answer.status !== 200) {
    throw new Error(`${method} ${url}: ${answer.status} ${answer.text} for ${stringify(body)}`);
  }
  return parse(answer.text);
}

/** What is there on every node: accounts, fees, ids that do not exist. */
export async function bindBasics(target: Target): Promise<Bindings> {
  const { baseUrl, apiKey, privacyApiKey } = target;
  const read = (path: string) => json('GET', baseUrl + path) as Promise<JsonObject>;
  const [address, address2] = (await json('GET', `${baseUrl}/addresses`)) as string[];
  const config = await read('/node/config');
  const owner = await read('/node/owner');
  const genesis = await read('/blocks/first');
  const [genesisTx] = genesis['transactions'] as [JsonObject];
  const keys = await Promise.all(
    [address, address2].map((text) => read(`/addresses/info/${text}`)),
  );
  const letter = String(config['chainId']).charCodeAt(0);
  const made = (chainId: number) => addressOf(chainId, target.secureHash);
  const emptyAddress = made(letter);
  return {
    apiKey,
    privacyApiKey,
    address,
    address2,
    publicKey: keys[0]!['publicKey'],
    publicKey2: keys[1]!['publicKey'],
    ...(target.password === undefined ? {} : { password: target.password }),
    ...(target.password2 === undefined ? {} : { password2: target.password2 }),
    ownerAddress: owner['address'],
    registeredAddress: owner['address'],
    privacyOwner: owner['address'],
    chainId: config['chainId'],
    genesisTxId: genesisTx['id'],
    genesisSignature: genesis['signature'],
    emptyAddress,
    otherNetworkAddress: made(letter ^ 1),
    badChecksumAddress: withOtherEnd(emptyAddress),
    unknownTxId: base58.encode(randomBytes(32)),
    unknownSignature: base58.encode(randomBytes(64)),
    hex64: randomBytes(32).toString('hex'),
    overTxLimit: 10_001,
    now: Date.now(),
    maxLong: 9223372036854775807n,
    hugeAmount: 9000000000000000000n,
    ...prefixed('minFee', config['minimumFee']),
    ...prefixed('additionalFee', config['additionalFee']),
    // Never called: such cases end before anybody looks for the policy or the contract.
    policyId: base58.encode(randomBytes(32)),
    contractId: base58.encode(randomBytes(32)),
  };
}

function prefixed(name: string, map: unknown): Bindings {
  if (!isObject(map)) return {};
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [`${name}.${key}`, value]));
}

function addressOf(chainId: number, secureHash: Target['secureHash']): string {
  const start = concat(Uint8Array.of(1, chainId), randomBytes(20));
  return base58.encode(concat(start, secureHash(start).subarray(0, 4)));
}

function withOtherEnd(text: string): string {
  return text.slice(0, -1) + (text.endsWith('2') ? '3' : '2');
}

/** Makes the named things; the result holds the bindings of all of them. */
export async function prepare(
  target: Target,
  basics: Bindings,
  wanted: ReadonlySet<Made>,
): Promise<Bindings> {
  const maker = new Maker(target, basics);
  for (const [name, make] of Object.entries(recipes)) {
    if (wanted.has(name as Made)) Object.assign(maker.bindings, await make(maker));
  }
  return maker.bindings;
}

const recipes: Readonly<Record<Made, (maker: Maker) => Promise<Bindings>>> = {
  'signed-message': async (maker) => ({ messageSignature: await maker.signMessage('hello') }),
  'funded-account': (maker) => maker.refusedTransfers(),
  'funded-account-without-role': (maker) => maker.withoutRole(),
  'two-confirmed-transfers': async (maker) => {
    await maker.confirmed({ type: 4, version: 2, ...maker.transferTo2(1001) });
    const tx = await maker.confirmed({ type: 4, version: 2, ...maker.transferTo2(1002) });
    return { txId: tx['id'], confirmedTx: tx };
  },
  'active-lease': (maker) => maker.lease(),
  asset: async (maker) => ({ assetId: (await maker.confirmed(maker.issue('Gold')))['id'] }),
  'sponsored-asset': async (maker) => {
    const assetId = (await maker.confirmed(maker.issue('Silver')))['id'];
    await maker.confirmed({ type: 14, version: 1, assetId, minSponsoredAssetFee: 10 });
    return { sponsoredAssetId: assetId };
  },
  alias: async (maker) => {
    const alias = `case_${randomBytes(4).toString('hex')}`;
    await maker.confirmed({ type: 10, version: 2, alias });
    return { alias };
  },
  'data-entry': async (maker) => {
    const data = [{ key: 'answer', type: 'integer', value: 42 }];
    await maker.confirmed({ type: 12, version: 1, data });
    return { dataAddress: maker.bindings['address'] };
  },
  policy: async (maker) => {
    const recipients = [maker.bindings['ownerAddress']];
    const owners = [maker.bindings['address']];
    const policy = { policyName: 'cases', description: 'of the REST API', recipients, owners };
    return { policyId: (await maker.confirmed({ type: 112, version: 1, ...policy }))['id'] };
  },
  'privacy-data': (maker) => maker.privateData('hello'),
  'scripted-account': (maker) => maker.scripted(),
  contract: (maker) => maker.contract(),
  'contract-with-key': async () => ({ contractKey: 'sum' }),
  // The last one: a block may take it from the pool at any time.
  'pool-tx': async (maker) => {
    const tx = await maker.broadcast({ type: 4, version: 2, ...maker.transferTo2(1003) });
    return { poolTx: tx, poolTxId: tx['id'] };
  },
};

class Maker {
  readonly bindings: Record<string, unknown>;
  private readonly target: Target;

  constructor(target: Target, basics: Bindings) {
    this.target = target;
    this.bindings = { ...basics };
  }

  private post(path: string, body: unknown): Promise<unknown> {
    return json('POST', this.target.baseUrl + path, body, this.target.apiKey);
  }

  transferTo2(amount: number | bigint): JsonObject {
    return { recipient: this.bindings['address2'], amount, attachment: '' };
  }

  issue(name: string): JsonObject {
    const about = { name, description: 'of the cases', quantity: 1_000_000, decimals: 2 };
    return { type: 3, version: 2, ...about, reissuable: true, script: null };
  }

  async sign(tx: JsonObject): Promise<JsonObject> {
    const { address, password } = this.bindings;
    const body = { sender: address, ...(password === undefined ? {} : { password }), ...tx };
    return (await this.post('/transactions/sign', body)) as JsonObject;
  }

  async broadcast(tx: JsonObject): Promise<JsonObject> {
    return (await this.post('/transactions/broadcast', await this.sign(tx))) as JsonObject;
  }

  /** Broadcasts and waits for the block. */
  async confirmed(tx: JsonObject): Promise<JsonObject> {
    return this.mined(await this.broadcast(tx));
  }

  private async mined({ id, type }: JsonObject, where = '/transactions/info'): Promise<JsonObject> {
    const url = `${this.target.baseUrl}${where}/${id}`;
    const deadline = Date.now() + (this.target.waitMs ?? 60_000);
    while (Date.now() < deadline) {
      const answer = await call('GET', url);
      if (answer.status === 200) return parse(answer.text) as JsonObject;
      await sleep(100);
    }
    throw new Error(`no block took transaction ${id} of type ${type}`);
  }

  async contract(): Promise<Bindings> {
    const image = this.target.contractImage;
    if (image === undefined) throw new Error('this node executes no contracts');
    const creation = { type: 103, version: 1, ...image, contractName: 'sum', params: [] };
    const tx = await this.broadcast(creation);
    await this.mined(tx, '/contracts/executed-tx-for');
    return { contractId: tx['id'] };
  }

  async signMessage(message: string): Promise<unknown> {
    const { address, password } = this.bindings;
    const body = { message, ...(password === undefined ? {} : { password }) };
    return ((await this.post(`/addresses/signText/${address}`, body)) as JsonObject)['signature'];
  }

  /** A file with this text, of the policy that was made before. */
  async privateData(text: string): Promise<Bindings> {
    const { policyId, privacyOwner, password } = this.bindings;
    const hash = base58.encode(createHash('sha256').update(text).digest());
    const info = { filename: 'a.txt', size: '5', timestamp: 1_000_000_000, author: 'me' };
    const body = {
      sender: privacyOwner,
      ...(password === undefined ? {} : { password }),
      policyId,
      type: 'file',
      info: { ...info, comment: '' },
      data: Buffer.from(text).toString('base64'),
      hash,
    };
    const { baseUrl, privacyApiKey } = this.target;
    const tx = (await json(
      'POST',
      `${baseUrl}/privacy/sendData`,
      body,
      privacyApiKey,
    )) as JsonObject;
    await this.mined(tx);
    return { dataHash: hash };
  }

  async refusedTransfers(): Promise<Bindings> {
    const now = Date.now();
    const transfer = (amount: number | bigint, timestamp: number) =>
      this.sign({ type: 4, version: 2, timestamp, ...this.transferTo2(amount) });
    const good = await transfer(1, now);
    return {
      signedTransfer: good,
      signedTransferTooBig: await transfer(9_000_000_000_000_000_000n, now),
      signedTransferTampered: { ...good, amount: 2 },
      signedTransferFuture: await transfer(1, now + 3 * HOUR),
    };
  }

  async withoutRole(): Promise<Bindings> {
    const { address2, password2 } = this.bindings;
    const tx = { type: 102, version: 1, target: address2, opType: 'add', role: 'miner' };
    const signer = {
      sender: address2,
      ...(password2 === undefined ? {} : { password: password2 }),
    };
    return { signedPermissionWithoutRole: await this.sign({ ...tx, ...signer }) };
  }

  /** An account whose key is not in the keystore; its script asks for the key's signature. */
  async scripted(): Promise<Bindings> {
    const scheme = createChainScheme(family, String(this.bindings['chainId']).charCodeAt(0));
    const { privateKey, publicKey } = family.keyPairFromPhrase('an account with a script');
    const scriptedAddress = scheme.addressToText(scheme.addressOf(publicKey));
    const source = 'sigVerify(tx.bodyBytes, tx.proofs[0], tx.senderPublicKey)';
    const url = `${this.target.baseUrl}/utils/script/compile`;
    const { text } = await call('POST', url, { 'Content-Type': 'text/plain' }, source);
    const { script } = parse(text) as JsonObject;
    const funds = { recipient: scriptedAddress, amount: 100_000_000, attachment: '' };
    await this.confirmed({ type: 4, version: 2, ...funds });
    const about = { type: 13, version: 1, name: 'by key', description: '', script };
    const fee = this.bindings['minFee.13'];
    const senderPublicKey = base58.encode(publicKey);
    const unsigned = { ...about, senderPublicKey, fee, timestamp: Date.now() };
    const { body } = txFromJson({ ...unsigned, proofs: [] }, scheme);
    const proof = family.sign(privateKey, body, { bytes: (count) => randomBytes(count) });
    const signed = { ...unsigned, proofs: [base58.encode(proof)] };
    await this.mined((await this.post('/transactions/broadcast', signed)) as JsonObject);
    return { scriptedAddress };
  }

  async lease(): Promise<Bindings> {
    const { address, address2 } = this.bindings;
    const lease = await this.confirmed({ type: 8, version: 2, recipient: address2, amount: 5000 });
    const url = `${this.target.baseUrl}/addresses/balance/${address}`;
    const balance = (await json('GET', url)) as JsonObject;
    return { leaseId: lease['id'], lessor: address, lessorRegular: balance['balance'] };
  }
}
