/**
 * Reads and writes the accounts of a keystore.
 *
 * Invariant: who extends or changes the files holds their lock from the reading to the writing, so no
 * process overwrites what another has written.
 */

import { base58 } from '../base/base58.ts';
import { equal } from '../base/bytes.ts';
import { encodeHex } from '../base/hex.ts';
import type { Files } from '../base/ports/files.ts';
import type { Random } from '../base/ports/random.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import { SCRYPT_COST, type ScryptCost } from '../crypto/keystore-cipher.ts';
import {
  isGenuine,
  type KeyFile,
  type KeystoreEntry,
  parseKeyFile,
  printKeyFile,
  SALT_BYTES,
  type UncheckedKeyFile,
} from './format.ts';
import { KeystoreError } from './keystore-errors.ts';
import { type NewKey, sealEntry, type Wallet, type Wallets } from './wallet.ts';

export interface Account {
  readonly address: Uint8Array;
  readonly publicKey: Uint8Array;
  /** True if the account has a password of its own. */
  readonly password: boolean;
}

/** An account with its encrypted private key. */
export interface HeldAccount extends Account {
  readonly entry: KeystoreEntry;
  readonly wallet: Wallet;
}

export interface AccountFilesOptions {
  /** `wallet.file`: a file, or a folder with layout `directory`. */
  readonly path: string;
  readonly layout: Layout;
  /** Of a new file. A lower cost than the default is for random passwords only. */
  readonly cost?: ScryptCost;
}

export interface AccountFilesDeps {
  readonly files: KeystoreFiles;
  readonly random: Random;
  readonly family: Pick<CryptoFamily, 'publicKeyOf'>;
  readonly scheme: Pick<ChainScheme, 'addressOf'>;
}

/** The accounts by `accountName`, in the order of the files. */
export type HeldAccounts = ReadonlyMap<string, HeldAccount>;

/** What `HeldAccounts` has an account under. */
export const accountName = encodeHex;

export class AccountFiles {
  private readonly options: AccountFilesOptions;
  private readonly deps: AccountFilesDeps;
  private readonly wallets: Wallets;

  constructor(options: AccountFilesOptions, deps: AccountFilesDeps, wallets: Wallets) {
    this.options = options;
    this.deps = deps;
    this.wallets = wallets;
  }

  /** Rejects with KeystoreError. */
  async load(mustExist: boolean): Promise<Map<string, HeldAccount>> {
    const { path, layout } = this.options;
    const { files } = this.deps;
    this.requireLayout();
    const found = readKeyFiles(files, path, layout);
    if (mustExist && found.length === 0) throw new KeystoreError(`'${path}' is missing or empty`);
    const accounts = new Map<string, HeldAccount>();
    for (const { name, bytes } of found) {
      for (const account of await this.accountsOf(parseKeyFile(bytes, name), name)) {
        accounts.set(accountName(account.address), account);
      }
    }
    return accounts;
  }

  private requireLayout(): void {
    const { path, layout } = this.options;
    const isFolder = this.deps.files.isDirectory(path);
    if (isFolder === (layout === 'directory') || !this.deps.files.exists(path)) return;
    const [is, must] = isFolder ? ['a folder', 'a file'] : ['a file', 'a folder'];
    throw new KeystoreError(`'${path}' is ${is}, but with this cryptography it must be ${must}`);
  }

  /** While it works no other process writes. */
  private async alone<T>(work: () => Promise<T>): Promise<T> {
    const { path, layout } = this.options;
    this.requireLayout();
    const lock = await this.deps.files.lock(path, layout);
    try {
      return await work();
    } finally {
      lock.release();
    }
  }

  /** Rejects with KeystoreError where the file was not written with the wallet password. */
  private async accountsOf(file: UncheckedKeyFile, name: string): Promise<HeldAccount[]> {
    const wallet = await this.wallets.of(file.salt, file.cost);
    if (isGenuine(file, wallet.key)) return file.entries.map((entry) => this.held(entry, wallet));
    throw new KeystoreError(`Wrong password of the wallet '${name}', or the file was changed`);
  }

  /** Adds accounts and writes them; existing keys are left unchanged. Rejects with KeystoreError. */
  add(keys: readonly NewKey[]): Promise<{ all: HeldAccounts; added: HeldAccount[] }> {
    return this.alone(() => this.extend(keys));
  }

  private async extend(
    keys: readonly NewKey[],
  ): Promise<{ all: HeldAccounts; added: HeldAccount[] }> {
    const { random, family } = this.deps;
    // Others may have written since: what is on disk is what is extended.
    const all = await this.load(false);
    const wallet = all.values().next().value?.wallet ?? (await this.newWallet());
    const added: HeldAccount[] = [];
    for (const key of keys) {
      this.requireFullCost(wallet, key);
      const publicKey = family.publicKeyOf(key.privateKey);
      const account = this.held(await sealEntry(wallet, key, publicKey, random), wallet);
      const name = accountName(account.address);
      if (all.has(name)) continue;
      all.set(name, account);
      added.push(account);
    }
    this.write(wallet, this.options.layout === 'file' ? [...all.values()] : added);
    return { all, added };
  }

  /**
   * Encrypts all accounts anew for `next`. Nothing is written unless every key could be opened, nor
   * where another process wrote while `keyOf` asked, for which nobody waits. Of a folder a run that
   * was cut off is completed by the next one. Rejects with KeystoreError, and with what `keyOf`
   * throws.
   */
  async reseal(next: Wallets, keyOf: (account: HeldAccount) => Promise<NewKey>): Promise<void> {
    const { path, layout } = this.options;
    const { files, random } = this.deps;
    const found = readKeyFiles(files, path, layout);
    if (found.length === 0) throw new KeystoreError(`'${path}' is missing or empty`);
    const wallet = await this.newWallet(next);
    const resealed: NamedBytes[] = [];
    for (const { name, bytes } of found) {
      const file = parseKeyFile(bytes, name);
      const isDone = isGenuine(file, (await next.of(file.salt, file.cost)).key);
      if (isDone && file.cost.N >= wallet.cost.N) continue;
      const accounts = await this.accountsOf(file, name);
      const entries = [];
      for (const account of accounts) {
        const key = await keyOf(account);
        entries.push(await sealEntry(wallet, key, account.publicKey, random));
        key.privateKey.fill(0);
      }
      const { cost, salt, key } = wallet;
      resealed.push({ name, bytes: printKeyFile({ cost, salt, entries }, key) });
    }
    await this.alone(async () => {
      if (!isSame(found, readKeyFiles(files, path, layout))) throw changedMeanwhile(path);
      for (const { name, bytes } of resealed) files.replace(name, bytes, { secret: true });
    });
  }

  /**
   * Replaces the password of one account, which `key` was opened from; absent or empty: it has none.
   * Rejects with KeystoreError where another process has changed the account since.
   */
  replace(opened: HeldAccount, key: NewKey): Promise<HeldAccounts> {
    return this.alone(() => this.change(opened, key));
  }

  private async change({ address, entry }: HeldAccount, key: NewKey): Promise<HeldAccounts> {
    const all = await this.load(true);
    const name = accountName(address);
    const now = all.get(name);
    if (now === undefined || !equal(now.entry.sealed, entry.sealed)) {
      throw changedMeanwhile(this.options.path);
    }
    const { wallet } = now;
    this.requireFullCost(wallet, key);
    const sealed = await sealEntry(wallet, key, now.publicKey, this.deps.random);
    const account = this.held(sealed, wallet);
    all.set(name, account);
    this.write(wallet, this.options.layout === 'file' ? [...all.values()] : [account]);
    return all;
  }

  /** Where the wallet password is random, scrypt may be cheap. The password of a person has no other protection. */
  private requireFullCost({ cost }: Wallet, { password = '' }: NewKey): void {
    const { path, cost: least = SCRYPT_COST } = this.options;
    if (password === '' || cost.N >= least.N) return;
    throw new KeystoreError(
      `'${path}' is cheap to guess (scrypt, N = ${cost.N}), because its wallet password is random: before an account in it gets ` +
        'a password, run: platform-node keystore passwd CONFIG',
    );
  }

  private newWallet(wallets = this.wallets): Promise<Wallet> {
    const salt = this.deps.random.bytes(SALT_BYTES);
    return wallets.of(salt, this.options.cost ?? SCRYPT_COST);
  }

  private write({ cost, salt, key }: Wallet, accounts: readonly HeldAccount[]): void {
    const { path, layout } = this.options;
    const file = { cost, salt, entries: accounts.map(({ entry }) => entry) };
    for (const part of splitByLayout(file, path, layout)) {
      this.deps.files.replace(part.name, printKeyFile(part.file, key), { secret: true });
    }
  }

  private held(entry: KeystoreEntry, wallet: Wallet): HeldAccount {
    const { publicKey, password } = entry;
    return { address: this.deps.scheme.addressOf(publicKey), publicKey, password, entry, wallet };
  }
}

/**
 * The place of key files: one file with all accounts, or a folder with one file for each account,
 * as the cryptography family requires (`wallet.file`).
 */
export interface KeystoreFiles extends Files {
  list(path: string): string[];
  isDirectory(path: string): boolean;
  exists(path: string): boolean;
  /** Waits for the lock of the keystore, which any process takes that writes. It need not exist yet. */
  lock(path: string, layout: Layout): Promise<{ release(): void }>;
}

type Layout = CryptoFamily['keystoreLayout'];

interface NamedBytes {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const EXTENSION = '.key';

/** The existing files; an empty list for a keystore that does not exist yet. */
function readKeyFiles(files: KeystoreFiles, path: string, layout: Layout): NamedBytes[] {
  const names =
    layout === 'file'
      ? [path]
      : files
          .list(path)
          .filter((name) => name.endsWith(EXTENSION))
          .map((name) => `${path}/${name}`);
  return names.flatMap((name) => {
    const bytes = files.read(name);
    return bytes === undefined || bytes.length === 0 ? [] : [{ name, bytes }];
  });
}

const changedMeanwhile = (path: string): KeystoreError =>
  new KeystoreError(`'${path}' was changed meanwhile, nothing is written: run it again`);

const isSame = (one: readonly NamedBytes[], other: readonly NamedBytes[]): boolean =>
  one.length === other.length &&
  one.every(({ name, bytes }, i) => {
    const now = other[i]!;
    return name === now.name && equal(bytes, now.bytes);
  });

/** Splits the accounts into files: all in one, or one file each, named by public key. */
function splitByLayout(
  file: KeyFile,
  path: string,
  layout: Layout,
): { readonly name: string; readonly file: KeyFile }[] {
  if (layout === 'file') return [{ name: path, file }];
  return file.entries.map((entry) => ({
    name: `${path}/${base58.encode(entry.publicKey)}${EXTENSION}`,
    file: { ...file, entries: [entry] },
  }));
}
