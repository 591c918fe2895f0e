/**
 * Opens the keystore of a configuration, and the key of the node's owner in it (node.md#start step
 * 9, node.md#key-files).
 */
import { files } from '../../../adapters/files.ts';
import { systemRandom } from '../../../adapters/system.ts';
import { equal } from '../../../base/bytes.ts';
import { isObject } from '../../../base/json/json.ts';
import type { Log } from '../../../base/ports/log.ts';
import type { Account } from '../../../keystore/account-files.ts';
import { type Keystore, openKeystore } from '../../../keystore/keystore.ts';
import { changeWalletPassword } from '../../../keystore/wallet-password.ts';
import type { Config } from '../../../node/config/settings.ts';
import { readConfigFile } from '../../config-file.ts';
import { type Cryptography, cryptographyOf, cryptographyOfConfig } from '../../cryptography.ts';
import { CliError } from '../../terminal/exit.ts';
import { warn } from '../../terminal/output.ts';
import { type ToolSection, toolSection } from '../../tool-section.ts';
import { ownerPassword, walletPassword } from './passwords.ts';

export interface WalletPlace {
  readonly path: string;
  readonly password: string | undefined;
  readonly network: Cryptography;
}

/** Opens the keystore; asks for the password where the configuration has none. */
export async function openWallet(place: WalletPlace, log?: Log): Promise<Keystore> {
  const password = await walletPassword(place.password);
  const layout = place.network.family.keystoreLayout;
  return openKeystore(
    { path: place.path, layout, password },
    { files, random: systemRandom, ...place.network, log },
  );
}

/** Gives the wallet another password; asks for the present one where the configuration has none. */
export async function reencryptWallet(
  place: WalletPlace,
  choose: () => Promise<string>,
  passwordOf: (address: string) => Promise<string>,
): Promise<void> {
  const { path, network } = place;
  const password = await walletPassword(place.password);
  const options = { path, layout: network.family.keystoreLayout, password };
  const deps = { files, random: systemRandom, ...network };
  await changeWalletPassword(options, deps, await choose(), passwordOf);
}

/** The keystore of a node. An empty one is an error, because a node without keys cannot work. */
export async function openNodeWallet(config: Config, log?: Log): Promise<Keystore> {
  const { file: path, password } = config.wallet;
  if (!files.exists(path)) warn(`wallet.file '${path}' does not exist`);
  const keystore = await openWallet({ path, password, network: cryptographyOfConfig(config) }, log);
  if (keystore.accounts().length === 0) {
    throw new CliError(
      `Wallet can't be empty: '${path}' has no accounts, make one with: platform-node keystore generate`,
    );
  }
  return keystore;
}

export interface NodeKeys {
  readonly ownerKey: Uint8Array;
  /** The key of privacy.owner-address, which is the owner unless configured. */
  readonly identityKey: Uint8Array;
}

/**
 * The private keys of the node. Asks for their password if the environment does not have it. If
 * both accounts have a password, it must be the same.
 */
export async function unlockOwner(config: Config, keystore: Keystore): Promise<NodeKeys> {
  const { scheme } = cryptographyOfConfig(config);
  const held = (what: string, text: string): Account => {
    const address = scheme.addressFromText(text);
    const account = keystore.accounts().find((one) => equal(one.address, address));
    if (account !== undefined) return account;
    throw new CliError(`${what} '${text}' does not exist in the keystore`);
  };
  const owner = held('Node owner address', config.ownerAddress);
  const identity = held('privacy.owner-address', config.privacy.ownerAddress);
  const password = await ownerPassword();
  const ownerKey = await keystore.privateKey(owner.address, password);
  // Deriving the key that decrypts an account takes time.
  const identityKey =
    identity === owner
      ? ownerKey
      : await keystore.privateKey(identity.address, identity.password ? password : undefined);
  return { ownerKey, identityKey };
}

/** The wallet of a node's configuration, or the one of its section accounts-generator. */
export async function placeFromFile(
  path: string | undefined,
  set: readonly string[] | undefined,
): Promise<WalletPlace> {
  const { tree } = await readConfigFile(path);
  if (isObject(tree) && isObject(tree['accounts-generator'])) {
    return placeFromSection(toolSection(tree, 'accounts-generator'));
  }
  const { loadConfig } = await import('../../config-file.ts');
  const { config } = await loadConfig(path, { set });
  return {
    path: config.wallet.file,
    password: config.wallet.password,
    network: cryptographyOfConfig(config),
  };
}

export function placeFromSection(section: ToolSection): WalletPlace {
  return {
    path: section.text('wallet') ?? 'keystore.dat',
    password: section.text('wallet-password'),
    network: cryptographyOf(section.platformCrypto(), section.text('chain-id') ?? 'V'),
  };
}
