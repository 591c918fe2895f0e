/**
 * The services of a node over plain maps, for tests of the framework: one genesis block, a
 * keystore of two accounts, a pool that takes what is signed. It applies no rules of the state.
 */
import { randomBytes } from 'node:crypto';
import { hyperExpress } from '../../src/adapters/http/hyper-express.ts';
import { createApi } from '../../src/api/api.ts';
import type { AccountReads, BlockView } from '../../src/api/reads.ts';
import type { Keystore, Pool, Services } from '../../src/api/services.ts';
import { base58 } from '../../src/base/base58.ts';
import { latin1, utf8 } from '../../src/base/bytes.ts';
import { apiError } from '../../src/base/errors.ts';
import type { HttpServer, HttpServerOptions } from '../../src/base/http.ts';
import type { Random, Verifier } from '../../src/base/ports.ts';
import { readPages } from '../../src/cli/page-files.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { createFamily } from '../../src/crypto/families.ts';
import { encryptionWith } from '../../src/node/encryption.ts';
import { txFromJson } from '../../src/tx/json/encode.ts';
import { allTypes } from '../../src/tx/registry.ts';
import { signedBytes } from '../../src/tx/seal.ts';
import type { Tx } from '../../src/tx/transaction.ts';

export const API_KEY = 'open sesame';
export const PRIVACY_KEY = 'open the vault';
const ADDITIONAL: Readonly<Record<number, bigint>> = { 11: 1_000_000n, 12: 1_000_000n };
const SUPPLY = 10_000_000_000_000_000n;
const HOUR = 3_600_000;

export const family = createFamily('curve25519');
export const scheme = createChainScheme(family, 'T'.charCodeAt(0));
export const random: Random = { bytes: (count) => Uint8Array.from(randomBytes(count)) };
export const accounts = ['first account', 'second account'].map((phrase) => {
  const keys = family.keyPairFromPhrase(phrase);
  const address = scheme.addressOf(keys.publicKey);
  return { ...keys, address, text: scheme.addressToText(address) };
});
export const [first, second] = accounts as [(typeof accounts)[0], (typeof accounts)[0]];
export const addressText = scheme.addressToText;

const verifier: Verifier = {
  verifyOne: async (key, message, signature) => family.verify(key, message, signature),
  verify: async (items) =>
    items.map(({ publicKey, message, signature }) => family.verify(publicKey, message, signature)),
  close: async () => {},
};

const clock = {
  now: () => Date.now(),
  system: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms: number, action: () => void) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
  turn: () => new Promise<void>((resolve) => setImmediate(resolve)),
  synchronized: () => true,
};

function genesisBlock(): BlockView {
  const json = { type: 1, recipient: first.text, amount: SUPPLY, timestamp: 1_500_000_000_000 };
  const tx = txFromJson(json, scheme);
  return {
    height: 1,
    version: 1,
    timestamp: 1_500_000_000_000,
    reference: new Uint8Array(64).fill(255),
    signature: random.bytes(64),
    generator: first.address,
    features: [],
    size: 300,
    transactionCount: 1,
    fee: 0n,
    consensus: { kind: 'poa', skippedRounds: 0 },
    transactions: [tx],
  };
}

/** The private key, as a keystore gives it: a copy that the caller may wipe. */
function requestKey(address: Uint8Array, password?: string): Uint8Array {
  const account = find(address);
  if (account === undefined || password === 'wrong') throw apiError('MissingSenderPrivateKey');
  return account.privateKey.slice();
}

const keystore: Keystore = {
  addresses: () => accounts.map((account) => account.text),
  publicKey: (address) => find(address)?.publicKey,
  sign: (address, password, message) => family.sign(requestKey(address, password), message, random),
  reload: () => {},
};

const find = (address: Uint8Array) =>
  accounts.find((account) => account.text === scheme.addressToText(address));

function memoryPool(): Pool {
  const held = new Map<string, Tx>();
  return {
    async submit(tx) {
      const proof = tx.proofs[0];
      if (proof === undefined || !family.verify(tx.senderPublicKey, signedBytes(tx), proof)) {
        throw apiError('WrongProof', "proof doesn't validate as signature");
      }
      if (Math.abs(tx.timestamp - Date.now()) > 1.5 * HOUR) {
        throw apiError('Mistiming', `Transaction ts ${tx.timestamp} is from far future`);
      }
      const key = latin1(tx.id);
      held.set(key, held.get(key) ?? tx);
      return held.get(key)!;
    },
    list: () => [...held.values()],
    size: () => held.size,
    bytes: () => [...held.values()].reduce((sum, tx) => sum + tx.bytes.length, 0),
    get: (id) => held.get(latin1(id)),
  };
}

function* at<T>(value: T): Generator<undefined, T> {
  yield undefined;
  return value;
}

function accountReads(): AccountReads {
  const regular = (address: Uint8Array) =>
    scheme.addressToText(address) === first.text ? SUPPLY : 0n;
  return {
    balance: regular,
    balances(address) {
      const value = regular(address);
      return { regular: value, available: value, effective: value, generating: value };
    },
    lowestBalance: (address) => at(regular(address)),
    lowestEffective: (address) => at(regular(address)),
    generatingAt: regular,
    data: () => [],
    dataEntry: () => undefined,
    script: () => undefined,
    aliasesOf: () => [],
    aliasOwner: () => undefined,
  };
}

/** What the log was told, for tests that expect it to be told something. */
export const logged: unknown[] = [];

const hashOf = (secret: string): string => base58.encode(family.secureHash(utf8(secret)));

export const settings: Services['settings'] = {
  sdkCompatible: false,
  transactionsByAddressLimit: 10_000,
  distributionAddressLimit: 1000,
  apiKeyHash: hashOf(API_KEY),
  privacyApiKeyHash: hashOf(PRIVACY_KEY),
  cryptoApiKey: false,
};

export function stubServices(changes: Partial<Services> = {}): Services {
  const services: Services = {
    ...presentServices(changes),
    snapshot: () => ({ reads: services, release: () => {} }),
  };
  return services;
}

function presentServices(changes: Partial<Services>): Omit<Services, 'snapshot'> {
  const block = genesisBlock();
  const [genesisTx] = block.transactions as [Tx];
  const fees = Object.fromEntries(allTypes.map((def) => [def.type, def.fee ?? 0n]));
  const role = { role: 'permissioner' };
  return {
    settings,
    scheme: scheme,
    hashes: { fast: family.fastHash, secure: family.secureHash },
    clock,
    random,
    log: {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: (event, fields) => logged.push([event, fields]),
    },
    verifier,
    chain: {
      height: () => 1,
      headerAt: (height) => (height === 1 ? block : undefined),
      blockAt: (height) => (height === 1 ? block : undefined),
      transactionsAt: () => block.transactions,
      heightOf: (signature) => (latin1(signature) === latin1(block.signature) ? 1 : undefined),
      transaction: (id) =>
        latin1(id) === latin1(genesisTx.id) ? { tx: genesisTx, height: 1 } : undefined,
      transactionsOf: (address, limit) =>
        find(address) === first && limit > 0 ? [{ tx: genesisTx, height: 1 }] : [],
      scoreAt: () => 0n,
    },
    accounts: accountReads(),
    leases: { active: () => [], isActive: () => false },
    assets: {
      details: () => undefined,
      balance: () => 0n,
      balancesOf: () => [],
      distribution: () => [],
      distributionAt: () => at({ items: [], hasNext: false, last: undefined }),
    },
    pool: memoryPool(),
    fees: {
      calculate(tx) {
        if (tx.fields['feeAssetId'] !== undefined) {
          throw apiError('Invalid', 'Asset does not exist, cannot be used to pay fees');
        }
        const transfers = tx.fields['transfers'] as readonly unknown[] | undefined;
        const units = BigInt(Math.floor(((transfers?.length ?? 0) + 1) / 2));
        const feeAmount = (fees[tx.type] ?? 0n) + (ADDITIONAL[tx.type] ?? 0n) * units;
        return { feeAssetId: undefined, feeAmount };
      },
    },
    keystore,
    encryption: encryptionWith({ keystore: { requestKey }, family, random, clock }),
    consensus: {
      settings: {
        kind: 'poa',
        roundDuration: '25 seconds',
        syncDuration: '5 seconds',
        banDurationBlocks: 50,
        warningsForBan: 3,
        maxBansPercentage: 40,
      },
      miners: () => [first.address],
      minersAtHeight: () => [first.address],
      bannedMiners: () => [],
    },
    permissions: {
      roles: (address, time) => (find(address) === first && time > 1 ? [role] : []),
      participants: () => [first],
    },
    activation: {
      status: () => ({
        height: 1,
        votingInterval: 1,
        votingThreshold: 1,
        nextCheck: 1,
        features: [
          {
            id: 1,
            description: 'Minimum generating balance',
            blockchainStatus: 'ACTIVATED',
            nodeStatus: 'IMPLEMENTED',
            activationHeight: 0,
          },
        ],
      }),
    },
    node: {
      version: '1.1.0',
      platformCrypto: true,
      nativeToken: 'WEST',
      minimumFee: fees,
      additionalFee: ADDITIONAL,
      blockTiming: { roundDuration: 25_000, syncDuration: 5_000 },
      owner: first,
      identity: first,
      problem: () => undefined,
      stop: () => {},
    },
    contracts: {
      list: () => [],
      get: () => undefined,
      entries: () => [],
      entry: () => undefined,
      executedFor: () => undefined,
      statuses: () => [],
    },
    policies: { list: () => [], get: () => undefined, hashes: () => [] },
    privacy: undefined,
    ...changes,
  };
}

export interface Running {
  readonly url: string;
  readonly server: HttpServer;
}

/** A server of the whole API on a free port. */
export async function serve(
  services: Services = stubServices(),
  options: Partial<HttpServerOptions> = {},
): Promise<Running> {
  const server = await hyperExpress.listen(createApi(services, {}, readPages()), {
    host: '127.0.0.1',
    port: 0,
    cors: true,
    ...options,
  });
  const scheme = options.tls === undefined ? 'http' : 'https';
  return { server, url: `${scheme}://127.0.0.1:${server.port}` };
}
