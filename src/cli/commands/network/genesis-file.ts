/**
 * The file genesis.conf of a network: a draft with placeholders until it is merged, then the signed first
 * block. Its digest names the network in requests, whichever of both it is.
 */
import { join } from 'node:path';
import { files } from '../../../adapters/files.ts';
import { parseHoconText } from '../../../adapters/hocon.ts';
import { fromUtf8 } from '../../../base/bytes.ts';
import { encodeHex } from '../../../base/hex.ts';
import { isObject } from '../../../base/json/json.ts';
import { canonicalJson } from '../../../consensus/settings-hash.ts';
import { sha256 } from '../../../crypto/sha256.ts';
import { sharedSettings } from '../../../node/config/genesis-section.ts';
import { readConfig } from '../../../node/config/read.ts';
import type { Config } from '../../../node/config/settings.ts';
import { loadConfig } from '../../config-file.ts';
import { type Cryptography, cryptographyOf } from '../../cryptography.ts';
import { genesisBlock } from '../../genesis-block.ts';
import { CliError } from '../../terminal/exit.ts';
import { GENESIS_FILE } from './network-texts.ts';

export interface GenesisFile {
  readonly path: string;
  readonly text: string;
  /** SHA-256 of its bytes. */
  readonly digest: Uint8Array;
  readonly cryptography: Cryptography;
  /** Members whose keys are missing, in their order. */
  readonly missing: readonly string[];
}

export const genesisDigest = (bytes: Uint8Array): string => encodeHex(sha256(bytes));

/** The file in a folder. Throws CliError where there is none. */
export async function readGenesis(dir: string): Promise<GenesisFile> {
  const path = join(dir, GENESIS_FILE);
  const bytes = files.isDirectory(path) ? undefined : files.read(path);
  if (bytes === undefined) {
    throw new CliError(`${path} does not exist: platform-node network init makes it`);
  }
  const text = fromUtf8(bytes);
  if (text === undefined) throw new CliError(`${path} is no text in UTF-8`);
  const missing = [...text.matchAll(/<public key of ([^<>]*)>/g)].map(([, name = '']) => name);
  const cryptography = await cryptographyOfText(path, text);
  return { path, text, digest: sha256(bytes), cryptography, missing };
}

/** A draft has no keys yet, so it is no configuration; what keys are made of it has. */
async function cryptographyOfText(path: string, text: string): Promise<Cryptography> {
  const tree = await parseHoconText(text).catch((cause: Error) => {
    throw new CliError(`${path}: ${cause.message}`);
  });
  const at = (...keys: readonly string[]): unknown =>
    keys.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), tree);
  const crypto = at('node', 'platform-crypto');
  const chainId = at('node', 'blockchain', 'custom', 'address-scheme-character');
  if (chainId === undefined) throw new CliError(`${path} is no genesis of a network`);
  const isNational = crypto === false || crypto === 'no' || crypto === 'false';
  return cryptographyOf(!isNational, String(chainId));
}

/**
 * The settings of a merged text, with those that a node has of its own left at their defaults. `env`:
 * variables that may change others, of which no node sees anything.
 */
export async function configOfGenesis(
  text: string,
  owner: string,
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Config> {
  const { config } = readConfig({
    file: GENESIS_FILE,
    text,
    tree: await parseHoconText(text),
    env,
    sets: [`owner-address=${owner}`, 'ntp.fatal-timeout=5m'],
    home: '/',
    nonce: 0,
    readSecret: () => undefined,
  });
  return config;
}

/** The configuration of a member whose genesis is signed. Throws CliError where it is not. */
export async function signedConfigOf(dir: string): Promise<GenesisFile & { config: Config }> {
  const genesis = await readGenesis(dir);
  const { missing, path } = genesis;
  if (missing.length > 0) {
    throw new CliError(
      `${path} is a draft, without the keys of ${missing.join(', ')}: put the signed one in its place`,
    );
  }
  const { config } = await loadConfig(join(dir, 'node.conf'));
  genesisBlock(config);
  return { ...genesis, config };
}

/**
 * What all members compare: the same wherever the first block and every setting are by which blocks are
 * judged, also those that node.conf or a variable changes.
 */
export function checksumOf(config: Config): string {
  const { signature } = config.blockchain.custom.genesis;
  const { platformCrypto } = config;
  const text = canonicalJson({ ...sharedSettings(config), platformCrypto, signature });
  return genesisDigest(new TextEncoder().encode(text));
}
