/**
 * Makes the folders of a private network: accounts, keystores, signed genesis, configurations.
 * Nothing here is secret: every seed phrase is printed, so that users can experiment.
 *
 *   DIR/dev-network.json     accounts and API keys
 *   DIR/node.conf …          of a network of one node
 *   DIR/node-1/node.conf …   of each node of a larger one
 */
import { join } from 'node:path';
import { base58 } from '../../../base/base58.ts';
import { utf8 } from '../../../base/bytes.ts';
import type { Files } from '../../../base/ports/files.ts';
import type { Random } from '../../../base/ports/random.ts';
import { type GenesisSettings, signGenesis } from '../../../block/genesis.ts';
import type { ChainScheme } from '../../../codec/codec.ts';
import { createChainScheme } from '../../../crypto/chain-scheme.ts';
import type { CryptoFamily, KeyPair } from '../../../crypto/family.ts';
import { roleNumber } from '../../../ledger/roles.ts';
import { noteOfNewKey, notePath } from '../../../node/finality/voter-note.ts';
import { type DevConfig, devConfigText, type Holder } from './dev-config.ts';

export const DEV_CHAIN_ID = 'T';
/** Every role of this protocol version except `banned`. */
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
/** When a node owns a quarter of all tokens, the first blocks take about a round. */
const INITIAL_BASE_TARGET = 153_722_867n;

export interface DevAccount extends Holder {
  readonly seed: string;
}

export interface DevNetwork {
  readonly chainId: string;
  /** The number of nodes. Their owners are the first accounts. */
  readonly nodes: number;
  readonly consensus: 'poa' | 'pos';
  /** Its blocks become final. */
  readonly finality: boolean;
  /** The title of its family of cryptography. */
  readonly crypto: string;
  readonly accounts: readonly DevAccount[];
  /** The API key of every node. */
  readonly apiKey: string;
  readonly privacyApiKey: string;
}

export interface DevOptions {
  readonly dir: string;
  readonly restHost: string;
  /** The port of the first node; the others follow. */
  readonly restPort: number;
  readonly consensus?: 'poa' | 'pos';
  /** Absent: under proof of authority blocks become final. */
  readonly finality?: boolean;
  /** The length of a whole round; under PoS, the average time between blocks. */
  readonly roundMs: number;
  /** Time of the genesis block. */
  readonly now: number;
  /** The ports on which the nodes listen to each other, one for each; absent: there is one node. */
  readonly peerPorts?: readonly number[];
}

export interface DevPorts {
  readonly files: Files;
  readonly random: Random;
  readonly family: CryptoFamily;
  /** Creates the keystore with these keys, without passwords. */
  readonly createKeystore: (
    path: string,
    password: string,
    keys: readonly KeyPair[],
  ) => Promise<void>;
}

export const nodeFolder = (dir: string, nodes: number, index: number): string =>
  nodes === 1 ? dir : join(dir, `node-${index + 1}`);
/** By default of the only node. */
export const configPath = (dir: string, nodes = 1, index = 0): string =>
  join(nodeFolder(dir, nodes, index), 'node.conf');
const networkPath = (dir: string): string => join(dir, 'dev-network.json');

/** The network of an earlier run in this folder, if there was one. */
export function readDevNetwork(dir: string, files: Files): DevNetwork | undefined {
  const bytes = files.read(networkPath(dir));
  if (bytes === undefined) return undefined;
  const stored = JSON.parse(new TextDecoder().decode(bytes)) as StoredNetwork;
  const { nodes = 1, consensus = 'poa', crypto = 'international', finality = false } = stored;
  if (files.read(configPath(dir, nodes)) === undefined) return undefined;
  const accounts = stored.accounts.map((one) => ({ ...one, balance: BigInt(one.balance) }));
  return { ...stored, nodes, consensus, finality, crypto, accounts };
}

interface StoredNetwork
  extends Omit<DevNetwork, 'nodes' | 'consensus' | 'finality' | 'crypto' | 'accounts'> {
  /** Absent in folders of earlier releases, like the next three fields. */
  readonly nodes?: number;
  readonly consensus?: 'poa' | 'pos';
  readonly finality?: boolean;
  readonly crypto?: string;
  readonly accounts: readonly (Omit<DevAccount, 'balance'> & { readonly balance: string })[];
}

export async function createDevNetwork(options: DevOptions, ports: DevPorts): Promise<DevNetwork> {
  const { files, random, family } = ports;
  const { peerPorts = [], consensus = 'poa', finality = consensus === 'poa' } = options;
  const nodes = Math.max(1, peerPorts.length);
  const scheme = createChainScheme(family, DEV_CHAIN_ID.charCodeAt(0));
  const secret = (): string => base58.encode(random.bytes(SECRET_BYTES));

  const seeds = Array.from({ length: nodes + ACCOUNTS_WITHOUT_ROLE }, secret);
  const keys = seeds.map((seed) => family.keyPairFromPhrase(seed));
  const accounts = keys.map((key, i) => ({
    address: scheme.addressToText(scheme.addressOf(key.publicKey)),
    publicKey: base58.encode(key.publicKey),
    seed: seeds[i] ?? '',
    roles: i === 0 ? ALL_ROLES : i < nodes ? ['miner'] : [],
    balance: INITIAL_AMOUNT,
  }));
  const network = {
    chainId: DEV_CHAIN_ID,
    nodes,
    consensus,
    finality,
    crypto: family.title,
    accounts,
    apiKey: secret(),
    privacyApiKey: secret(),
  };

  const transactions = keys.map(({ publicKey }) => ({
    recipient: scheme.addressOf(publicKey),
    amount: INITIAL_AMOUNT,
  }));
  const networkParticipants = accounts.map(({ roles }, i) => ({
    publicKey: keys[i]!.publicKey,
    roles: roles.map((name) => roleNumber(name) ?? 0),
  }));
  const founded = { transactions, networkParticipants, consensus: consensusOf(consensus) };
  const walletPassword = secret();
  const hash = (key: string): string => base58.encode(family.secureHash(utf8(key)));
  const shared: Omit<DevConfig, 'folder' | 'owner' | 'restPort' | 'peers'> = {
    platformCrypto: family.platformCrypto,
    chainId: network.chainId,
    accounts,
    consensus,
    finality,
    roundMs: options.roundMs,
    walletPassword,
    restHost: options.restHost,
    apiKeyHash: hash(network.apiKey),
    privacyApiKeyHash: hash(network.privacyApiKey),
    genesisTimestamp: options.now,
    initialBaseTarget: INITIAL_BASE_TARGET,
    ...signed({ timestamp: options.now, version: 1, ...founded }, ports, scheme),
  };
  for (let index = 0; index < nodes; index++) {
    const folder = nodeFolder(options.dir, nodes, index);
    // The key of its owner, and the keys of all accounts that own no node.
    const held = [keys[index]!, ...keys.slice(nodes)];
    await ports.createKeystore(join(folder, 'keystore.dat'), walletPassword, held);
    const text = devConfigText({
      ...shared,
      folder,
      owner: accounts[index]!.address,
      restPort: options.restPort === 0 ? 0 : options.restPort + index,
      ...(peerPorts.length === 0 ? {} : { peers: { ports: peerPorts, index } }),
    });
    files.replace(configPath(options.dir, nodes, index), utf8(text), { secret: true });
  }
  keepNetwork(options.dir, network, ports);
  return network;
}

/** For later runs in this folder. */
function keepNetwork(dir: string, network: DevNetwork, ports: DevPorts): void {
  const stored = network.accounts.map((one) => ({ ...one, balance: String(one.balance) }));
  const text = JSON.stringify({ ...network, accounts: stored }, null, 2);
  ports.files.replace(networkPath(dir), utf8(`${text}\n`), { secret: true });
  writeFirstNotes(dir, network, ports);
}

/** Whether no node has a chain: then nobody has a vote on it, either. */
export const isWithoutChain = (
  dir: string,
  { nodes }: DevNetwork,
  files: { exists(path: string): boolean },
): boolean =>
  Array.from({ length: nodes }, (_, index) => nodeFolder(dir, nodes, index)).every(
    (folder) => !files.exists(join(folder, 'data', 'chain')),
  );

/**
 * The chain begins, so no key has voted on it. The votes of a chain that was removed bind nobody: no node has them, and no
 * other was in the network.
 */
export function writeFirstNotes(
  dir: string,
  { nodes, accounts, finality }: DevNetwork,
  { files, family }: Pick<DevPorts, 'files' | 'family'>,
): void {
  // Tools refuse to make a chain beside a note.
  if (!finality) return;
  const scheme = createChainScheme(family, DEV_CHAIN_ID.charCodeAt(0));
  for (let index = 0; index < nodes; index++) {
    const path = notePath({ directory: nodeFolder(dir, nodes, index) });
    const publicKey = base58.decode(accounts[index]!.publicKey);
    files.replace(path, noteOfNewKey(publicKey, scheme), { secret: true });
  }
}

/** The genesis block has a key of its own, which nobody keeps. */
function signed(settings: GenesisSettings, { family, random }: DevPorts, scheme: ChainScheme) {
  const { publicKey, privateKey } = family.generateKeyPair(random);
  const sign = (message: Uint8Array): Uint8Array => family.sign(privateKey, message, random);
  const { header } = signGenesis(settings, { publicKey, sign }, scheme);
  return {
    genesisKey: base58.encode(publicKey),
    genesisSignature: base58.encode(header.signature),
  };
}

const consensusOf = (kind: 'poa' | 'pos'): GenesisSettings['consensus'] =>
  kind === 'poa' ? { kind } : { kind, initialBaseTarget: INITIAL_BASE_TARGET };
