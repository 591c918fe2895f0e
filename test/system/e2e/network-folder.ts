/**
 * Folders of small networks for the tests of `platform-node start`: accounts, a keystore that opens
 * quickly, a configuration signed by the real command.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { files } from '../../../src/adapters/files.ts';
import { systemRandom } from '../../../src/adapters/system.ts';
import { base58 } from '../../../src/base/base58.ts';
import { utf8 } from '../../../src/base/bytes.ts';
import { createChainScheme } from '../../../src/crypto/chain-scheme.ts';
import { openKeystore } from '../../../src/keystore/keystore.ts';
import { run } from '../../cli/run.ts';
import { family } from '../../family.ts';
import { CHEAP } from '../../keystore/sample.ts';
import { temporaryFolder } from './dev-node.ts';
import type { Scope } from './process.ts';

export { family };
export const CHAIN_ID = 'T';
export const WALLET_PASSWORD = 'of the wallet';
const schemeOf = (chainId: string) => createChainScheme(family, chainId.charCodeAt(0));

export interface Person {
  readonly address: string;
  readonly publicKey: string;
  readonly privateKey: Uint8Array;
}

/** Somebody with an account, always the same for the same phrase. */
export function person(phrase: string, chainId = CHAIN_ID): Person {
  const { publicKey, privateKey } = family.keyPairFromPhrase(phrase);
  const scheme = schemeOf(chainId);
  const address = scheme.addressToText(scheme.addressOf(publicKey));
  return { address, publicKey: base58.encode(publicKey), privateKey };
}

export const keyHash = (key: string): string => base58.encode(family.secureHash(utf8(key)));

export interface Member extends Person {
  readonly roles: readonly string[];
  readonly amount: number;
}

export interface NetworkOptions {
  readonly members?: readonly Member[];
  readonly consensus?: 'poa' | 'pos';
  readonly initialBalance?: number;
  /** More lines of the configuration; later lines win over earlier ones. */
  readonly more?: string;
}

export const OWNER: Member = {
  ...person('the owner'),
  roles: ['permissioner', 'miner', 'connection_manager'],
  amount: 1_000_000_000_000,
};
export const MEMBERS: readonly Member[] = [
  OWNER,
  { ...person('a second miner'), roles: ['miner'], amount: 20_000_000_000 },
  { ...person('somebody else'), roles: [], amount: 3_000_000_000 },
];
export const API_KEY = 'of these tests';

/** The text of a configuration that is not signed yet. */
export function networkText(dir: string, options: NetworkOptions = {}): string {
  const { members = MEMBERS, consensus = 'poa', more = '' } = options;
  const sum = members.reduce((total, { amount }) => total + amount, 0);
  const transactions = members.map(
    ({ address, amount }) => `      { recipient = "${address}", amount = ${amount} }`,
  );
  const participants = members.map(
    (one) => `      { public-key = "${one.publicKey}", roles = [${one.roles.join(', ')}] }`,
  );
  return `node {
  platform-crypto = ${family.platformCrypto}
  owner-address = "${members[0]?.address}"
  directory = "${dir}"
  data-directory = "${dir}/data"
  wallet { file = "${dir}/keystore.dat", password = "${WALLET_PASSWORD}" }
  blockchain.consensus { type = ${consensus}, round-duration = 250ms, sync-duration = 50ms }
  blockchain.custom {
    address-scheme-character = "${CHAIN_ID}"
    genesis {
      initial-balance = ${options.initialBalance ?? sum}
      block-timestamp = 0
      genesis-public-key-base-58 = ""
      signature = ""
      transactions = [\n${transactions.join('\n')}\n      ]
      network-participants = [\n${participants.join('\n')}\n      ]
    }
  }
  network { bind-address = "127.0.0.1", port = 0, known-peers = [] }
  miner.quorum = 0
  ntp { servers = [], fatal-timeout = 5m }
  rest-api { bind-address = "127.0.0.1", port = 0, api-key-hash = "${keyHash(API_KEY)}" }
${more}
}
`;
}

export interface NewKey {
  readonly privateKey: Uint8Array;
  readonly password?: string;
}

export async function writeKeystore(path: string, keys: readonly NewKey[]): Promise<void> {
  const keystore = await openKeystore(
    { path, layout: family.keystoreLayout, password: WALLET_PASSWORD, cost: CHEAP },
    { files, random: systemRandom, family, scheme: schemeOf(CHAIN_ID) },
  );
  await keystore.add(keys);
  keystore.close();
}

export interface NetworkFolder {
  readonly dir: string;
  /** Path of the configuration file. */
  readonly config: string;
  /** Replaces a part of the configuration, which must be there. */
  edit(from: string, to: string): void;
  /** Also where it is signed already. */
  sign(): Promise<void>;
}

/** A folder from which `platform-node start` runs a node with the owner's key. */
export async function networkFolder(
  scope: Scope,
  options: NetworkOptions = {},
): Promise<NetworkFolder> {
  const dir = temporaryFolder(scope);
  const config = join(dir, 'node.conf');
  writeFileSync(config, networkText(dir, options));
  await writeKeystore(join(dir, 'keystore.dat'), [OWNER]);
  const folder: NetworkFolder = {
    dir,
    config,
    edit(from, to) {
      const text = readFileSync(config, 'utf8');
      if (!text.includes(from)) throw new Error(`the configuration has no ${from}`);
      writeFileSync(config, text.replace(from, to));
    },
    async sign() {
      const { code, stderr } = await run(['genesis', 'sign', config, '--force']);
      if (code !== 0) throw new Error(stderr);
    },
  };
  await folder.sign();
  return folder;
}
