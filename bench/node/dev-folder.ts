/** The folder of a one-node network, made without starting the node. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { files } from '../../src/adapters/files.ts';
import { systemRandom } from '../../src/adapters/system.ts';
import { base58 } from '../../src/base/base58.ts';
import {
  configPath,
  createDevNetwork,
  DEV_CHAIN_ID,
  type DevNetwork,
  readDevNetwork,
} from '../../src/cli/commands/dev/dev-network.ts';
import { type Cryptography, cryptographyOf } from '../../src/cli/cryptography.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import type { CryptoFamily } from '../../src/crypto/family.ts';
import { openKeystore } from '../../src/keystore/keystore.ts';

export interface DevFolder {
  readonly dir: string;
  readonly config: string;
  readonly family: CryptoFamily;
  readonly scheme: ChainScheme;
  /** The account with every role and much money, which also makes the blocks. */
  readonly owner: Owner;
  /** Addresses of everybody whom the network knows, the owner first; all keys are in the keystore. */
  readonly members: readonly string[];
  /** Of the members, in their order. */
  readonly publicKeys: readonly Uint8Array[];
  /** Whether miners vote on blocks. */
  readonly finality: boolean;
}

export interface Owner {
  readonly address: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

export interface DevFolderOptions {
  readonly dir: string;
  readonly roundMs: number;
  /** Time of the genesis block. */
  readonly genesisTimestamp: number;
  /** The setting `platform-crypto`, by default yes. */
  readonly platformCrypto?: boolean;
  /** What a block may hold, by default 1 MiB. A chain keeps what it began with. */
  readonly blockBytes?: number | undefined;
  /** Whether miners vote on blocks, by default no: tools make chains without votes. */
  readonly finality?: boolean | undefined;
  /** What is active from the start, by default as in new networks. */
  readonly features?: readonly number[] | undefined;
}

/**
 * What a round of a second may bring: 25,000 transfers. With 1 MiB the pool of a node under full load
 * would grow from 6,470/s on, and what is left over be packed after the measurement.
 */
export const BLOCK_BYTES_OF_FULL_LOAD = 4 * 1024 * 1024;

export async function makeDevFolder(options: DevFolderOptions): Promise<DevFolder> {
  const { dir, roundMs, genesisTimestamp, platformCrypto = true, finality = false } = options;
  const { family, scheme } = cryptographyOf(platformCrypto, DEV_CHAIN_ID);
  const random = systemRandom;
  mkdirSync(dir, { recursive: true });
  const network = await createDevNetwork(
    { dir, restHost: '127.0.0.1', restPort: 0, roundMs, now: genesisTimestamp, finality },
    {
      files,
      random,
      family,
      async createKeystore(path, password, keys) {
        const ports = { files, random, family, scheme };
        const keystore = await openKeystore(
          { path, layout: family.keystoreLayout, password },
          ports,
        );
        await keystore.add(keys);
        keystore.close();
      },
    },
  );
  const { blockBytes, features } = options;
  const lines: string[] = [];
  if (blockBytes !== undefined) lines.push(`miner.max-block-size-in-bytes = ${blockBytes}`);
  if (features !== undefined) {
    const key = 'blockchain.custom.functionality.pre-activated-features';
    // An object would be added to the one before.
    lines.push(`${key} = null`, `${key} = { ${features.map((id) => `${id} = 0`).join(', ')} }`);
  }
  for (const line of lines) appendFileSync(configPath(dir), `node.${line}\n`);
  return withOwner(dir, network, { family, scheme });
}

/** A folder that was made before. */
export function openDevFolder(dir: string): DevFolder {
  const network = readDevNetwork(dir, files);
  if (network === undefined) throw new Error(`no network of one node in ${dir}`);
  const { family, scheme } = cryptographyOf(network.crypto === 'international', network.chainId);
  return withOwner(dir, network, { family, scheme });
}

function withOwner(
  dir: string,
  { accounts, finality }: DevNetwork,
  { family, scheme }: Cryptography,
): DevFolder {
  const { privateKey, publicKey } = family.keyPairFromPhrase(accounts[0]?.seed ?? '');
  const owner = {
    address: scheme.addressOf(publicKey),
    publicKey,
    privateKey,
    sign: (message: Uint8Array) => family.sign(privateKey, message, systemRandom),
  };
  const members = accounts.map(({ address }) => address);
  const publicKeys = accounts.map((account) => base58.decode(account.publicKey)!);
  return { dir, config: configPath(dir), family, scheme, owner, members, publicKeys, finality };
}
