/**
 * Makes the folder of a private one-node network: accounts, keystore, signed genesis, configuration.
 * Nothing here is secret: every seed phrase is printed for whoever wants to try things out.
 */
import { join } from 'node:path';
import { base58 } from '../base/base58.ts';
import { utf8 } from '../base/bytes.ts';
import type { Files, Random } from '../base/ports.ts';
import { signGenesis } from '../block/genesis.ts';
import { createChain } from '../crypto/chain.ts';
import type { CryptoFamily, KeyPair } from '../crypto/family.ts';
import { roleNumber } from '../ledger/roles.ts';

export const DEV_CHAIN_ID = 'T';
/** Every role of this era except `banned`. */
const ALL_ROLES = [
  'permissioner',
  'blacklister',
  'connection_manager',
  'contract_developer',
  'issuer',
  'dex',
  'miner',
] as const;
const ACCOUNTS_WITHOUT_ROLE = 4;
const INITIAL_AMOUNT = 100_000_000_00000000n;
const SECRET_BYTES = 24;

export interface DevAccount {
  readonly address: string;
  readonly publicKey: string;
  readonly seed: string;
  readonly roles: readonly string[];
  readonly balance: bigint;
}

export interface DevNetwork {
  readonly chainId: string;
  readonly accounts: readonly DevAccount[];
  readonly apiKey: string;
  readonly privacyApiKey: string;
}

export interface DevOptions {
  readonly dir: string;
  readonly restHost: string;
  readonly restPort: number;
  /** Length of a whole round: its working part and its synchronisation part. */
  readonly roundMs: number;
  /** Time of the genesis block. */
  readonly now: number;
}

export interface DevPorts {
  readonly files: Files;
  readonly random: Random;
  readonly family: CryptoFamily;
  /** Creates the keystore with these keys, none of which has a password. */
  readonly createKeystore: (
    path: string,
    password: string,
    keys: readonly KeyPair[],
  ) => Promise<void>;
}

export const configPath = (dir: string): string => join(dir, 'node.conf');
const networkPath = (dir: string): string => join(dir, 'dev-network.json');

/** The network of an earlier run in this folder, if there was one. */
export function readDevNetwork(dir: string, files: Files): DevNetwork | undefined {
  const bytes = files.read(networkPath(dir));
  if (bytes === undefined || files.read(configPath(dir)) === undefined) return undefined;
  const stored = JSON.parse(new TextDecoder().decode(bytes)) as Omit<DevNetwork, 'accounts'> & {
    accounts: readonly (Omit<DevAccount, 'balance'> & { balance: string })[];
  };
  const accounts = stored.accounts.map((one) => ({ ...one, balance: BigInt(one.balance) }));
  return { ...stored, accounts };
}

export async function createDevNetwork(options: DevOptions, ports: DevPorts): Promise<DevNetwork> {
  const { files, random, family } = ports;
  const chain = createChain(family, DEV_CHAIN_ID.charCodeAt(0));
  const secret = (): string => base58.encode(random.bytes(SECRET_BYTES));

  const seeds = Array.from({ length: 1 + ACCOUNTS_WITHOUT_ROLE }, secret);
  const keys = seeds.map((seed) => family.keyPairFromPhrase(seed));
  const accounts = keys.map((key, i) => ({
    address: chain.addressToText(chain.addressOf(key.publicKey)),
    publicKey: base58.encode(key.publicKey),
    seed: seeds[i] ?? '',
    roles: i === 0 ? ALL_ROLES : [],
    balance: INITIAL_AMOUNT,
  }));
  const network = {
    chainId: DEV_CHAIN_ID,
    accounts,
    apiKey: secret(),
    privacyApiKey: secret(),
  };

  const genesisKey = family.generateKeyPair(random);
  const genesis = signGenesis(
    {
      timestamp: options.now,
      version: 1,
      consensus: { kind: 'poa' },
      transactions: accounts.map(({ address, balance }) => ({
        recipient: chain.addressFromText(address),
        amount: balance,
      })),
      networkParticipants: keys.map((key, i) => ({
        publicKey: key.publicKey,
        roles: i === 0 ? ALL_ROLES.map((name) => roleNumber(name) ?? 0) : [],
      })),
    },
    {
      publicKey: genesisKey.publicKey,
      sign: (message) => family.sign(genesisKey.privateKey, message, random),
    },
    chain,
  );

  const walletPassword = secret();
  await ports.createKeystore(join(options.dir, 'keystore.dat'), walletPassword, keys);
  const hash = (key: string): string => base58.encode(family.secureHash(utf8(key)));
  files.replace(
    configPath(options.dir),
    utf8(
      configText(options, network, {
        walletPassword,
        apiKeyHash: hash(network.apiKey),
        privacyApiKeyHash: hash(network.privacyApiKey),
        genesisKey: base58.encode(genesisKey.publicKey),
        genesisSignature: base58.encode(genesis.header.signature),
      }),
    ),
    { secret: true },
  );
  const stored = accounts.map((one) => ({ ...one, balance: String(one.balance) }));
  const text = JSON.stringify({ ...network, accounts: stored }, null, 2);
  files.replace(networkPath(options.dir), utf8(`${text}\n`), { secret: true });
  return network;
}

interface Secrets {
  readonly walletPassword: string;
  readonly apiKeyHash: string;
  readonly privacyApiKeyHash: string;
  readonly genesisKey: string;
  readonly genesisSignature: string;
}

function configText(options: DevOptions, network: DevNetwork, secrets: Secrets): string {
  const { accounts } = network;
  // A tenth of the round is left for a block to spread, as protocol.md §4.1 advises.
  const syncMs = Math.max(1, Math.floor(options.roundMs / 10));
  const quoted = (text: string): string => JSON.stringify(text);
  const transactions = accounts
    .map((one) => `{ recipient = ${quoted(one.address)}, amount = "${one.balance}" }`)
    .join('\n          ');
  const participants = accounts
    .map((one) => `{ public-key = ${quoted(one.publicKey)}, roles = [${one.roles.join(', ')}] }`)
    .join('\n          ');
  return `# A private network for development, made by \`platform-node dev\`.
node {
  owner-address = ${quoted(accounts[0]?.address ?? '')}
  directory = ${quoted(options.dir)}
  data-directory = ${quoted(join(options.dir, 'data'))}
  wallet { file = ${quoted(join(options.dir, 'keystore.dat'))}, password = ${quoted(secrets.walletPassword)} }
  blockchain {
    consensus {
      type = poa
      round-duration = "${options.roundMs - syncMs}ms"
      sync-duration = "${syncMs}ms"
    }
    custom {
      address-scheme-character = ${quoted(network.chainId)}
      genesis {
        initial-balance = "${accounts.reduce((sum, one) => sum + one.balance, 0n)}"
        block-timestamp = ${options.now}
        genesis-public-key-base-58 = ${quoted(secrets.genesisKey)}
        signature = ${quoted(secrets.genesisSignature)}
        transactions = [
          ${transactions}
        ]
        network-participants = [
          ${participants}
        ]
      }
    }
  }
  # Nobody else is to join it.
  network { listen = no, bind-address = "127.0.0.1", known-peers = [] }
  # The only miner of this network is this node, on whose clock everybody agrees.
  miner.quorum = 0
  ntp { servers = [], fatal-timeout = 5m }
  rest-api {
    bind-address = ${quoted(options.restHost)}
    port = ${options.restPort}
    api-key-hash = ${quoted(secrets.apiKeyHash)}
    privacy-api-key-hash = ${quoted(secrets.privacyApiKeyHash)}
  }
}
`;
}
