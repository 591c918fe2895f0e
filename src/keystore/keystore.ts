/**
 * The keys of a node's accounts (node.md#key-files, rest.md#api-keys-in-requests, decision 16).
 *
 * Invariants: private keys are on disk only in encrypted form; a reload takes effect as a whole or
 * not at all; REST clients get the same refusal for a missing key, a missing password and a wrong
 * one.
 */
import { apiError } from '../base/errors.ts';
import type { Log } from '../base/ports/log.ts';
import type { Random } from '../base/ports/random.ts';
import type { SignedKind } from '../base/signer/signing.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import {
  type Account,
  AccountFiles,
  type AccountFilesDeps,
  type AccountFilesOptions,
  accountName,
  type HeldAccount,
  type HeldAccounts,
} from './account-files.ts';
import { KeyError } from './keystore-errors.ts';
import { createUnlockedKeys, type Purpose, type UnlockedKeys } from './unlock.ts';
import { type NewKey, unlockEntry, unsealEntry, Wallets } from './wallet.ts';

export interface KeystoreOptions extends AccountFilesOptions {
  readonly password: string;
}

export interface KeystoreDeps extends AccountFilesDeps {
  readonly family: Pick<CryptoFamily, 'publicKeyOf' | 'sign'>;
  readonly scheme: Pick<ChainScheme, 'addressOf' | 'addressToText'>;
  readonly log?: Log | undefined;
}

export interface Keystore {
  accounts(): readonly Account[];
  /** The addresses as text, in the order of the accounts. */
  addresses(): readonly string[];
  publicKey(address: Uint8Array): Uint8Array | undefined;
  /** For the operator: rejects with KeyError, which names the problem. */
  privateKey(address: Uint8Array, password?: string): Promise<Uint8Array>;
  /** For requests: throws or rejects with MissingSenderPrivateKey, whatever the problem is. */
  requestKey(address: Uint8Array, password?: string): Uint8Array | Promise<Uint8Array>;
  /** Like `requestKey`, and signs with the key. `kind` is for a signer, which looks whether it is; absent: text. */
  sign(
    address: Uint8Array,
    password: string | undefined,
    message: Uint8Array,
    kind?: SignedKind,
  ): Uint8Array | Promise<Uint8Array>;
  /** Adds accounts and writes them; existing keys are left unchanged. */
  add(keys: readonly NewKey[]): Promise<readonly Account[]>;
  /** Gives an account another password; an empty one: it has none. Rejects with KeyError. */
  changeAccountPassword(
    address: Uint8Array,
    current: string | undefined,
    password: string,
  ): Promise<void>;
  /**
   * Reads the files again, with another wallet password where one is given. On any error the old
   * accounts stay, and it rejects with ApiError.
   */
  reload(password?: string): Promise<void>;
  /** Overwrites the keys in memory. */
  close(): void;
}

/** Opens a keystore; a missing one is empty. Rejects with KeystoreError. */
export async function openKeystore(
  options: KeystoreOptions,
  deps: KeystoreDeps,
): Promise<Keystore> {
  const keystore = new FileKeystore(options, deps);
  await keystore.open();
  return keystore;
}

class FileKeystore implements Keystore {
  private readonly options: KeystoreOptions;
  private readonly deps: KeystoreDeps;
  private readonly keys: AccountKeys;
  private wallets: Wallets;
  private files: AccountFiles;
  private held: HeldAccounts = new Map();

  constructor(options: KeystoreOptions, deps: KeystoreDeps) {
    this.options = options;
    this.deps = deps;
    this.keys = new AccountKeys(deps.random, deps.scheme);
    this.wallets = new Wallets(options.password);
    this.files = new AccountFiles(options, deps, this.wallets);
  }

  async open(): Promise<void> {
    this.held = await this.files.load(false);
  }

  accounts(): readonly Account[] {
    return [...this.held.values()];
  }

  addresses(): readonly string[] {
    const { scheme } = this.deps;
    return Array.from(this.held.values(), ({ address }) => scheme.addressToText(address));
  }

  publicKey(address: Uint8Array): Uint8Array | undefined {
    return this.held.get(accountName(address))?.publicKey;
  }

  async privateKey(address: Uint8Array, given?: string): Promise<Uint8Array> {
    return this.keyOf(address, given, 'signing');
  }

  requestKey(address: Uint8Array, given?: string): Uint8Array | Promise<Uint8Array> {
    return withOneRefusal(() => this.keyOf(address, given, 'encryption'));
  }

  sign(
    address: Uint8Array,
    given: string | undefined,
    message: Uint8Array,
  ): Uint8Array | Promise<Uint8Array> {
    const key = withOneRefusal(() => this.keyOf(address, given, 'signing'));
    if (!(key instanceof Promise)) return this.signAndWipe(key, message);
    return key.then((privateKey) => this.signAndWipe(privateKey, message));
  }

  async add(newKeys: readonly NewKey[]): Promise<readonly Account[]> {
    const { all, added } = await this.files.add(newKeys);
    this.held = all;
    return added;
  }

  async changeAccountPassword(
    address: Uint8Array,
    current: string | undefined,
    password: string,
  ): Promise<void> {
    const opened = this.held.get(accountName(address));
    const privateKey = await this.privateKey(address, current);
    // Without an account there was no key.
    this.held = await this.files.replace(opened!, { privateKey, password });
    this.keys.wipe();
  }

  async reload(password?: string): Promise<void> {
    const wallets = password === undefined ? this.wallets : new Wallets(password);
    const files = new AccountFiles(this.options, this.deps, wallets);
    try {
      this.held = await files.load(true);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      this.deps.log?.error('keystore.reload.failed', { reason });
      throw apiError('Invalid', 'Wallet was not reloaded, the former one stays in use');
    }
    this.wallets = wallets;
    this.files = files;
    this.keys.wipe();
  }

  close(): void {
    this.keys.wipe();
    this.wallets.wipe();
    this.held = new Map();
  }

  /** Throws or rejects with KeyError. */
  private keyOf(
    address: Uint8Array,
    given: string | undefined,
    purpose: Purpose,
  ): Uint8Array | Promise<Uint8Array> {
    const account = this.held.get(accountName(address));
    if (account !== undefined) return this.keys.open(account, given, purpose);
    throw new KeyError(this.deps.scheme.addressToText(address), "Key wasn't found");
  }

  private signAndWipe(privateKey: Uint8Array, message: Uint8Array): Uint8Array {
    try {
      return this.deps.family.sign(privateKey, message, this.deps.random);
    } finally {
      privateKey.fill(0);
    }
  }
}

/** A request gets the same refusal whatever is wrong with a key. */
function withOneRefusal(
  open: () => Uint8Array | Promise<Uint8Array>,
): Uint8Array | Promise<Uint8Array> {
  try {
    const key = open();
    return key instanceof Promise ? key.catch(refuse) : key;
  } catch (cause) {
    return refuse(cause);
  }
}

function refuse(cause: unknown): never {
  throw cause instanceof KeyError ? apiError('MissingSenderPrivateKey') : cause;
}

const SECRET_BYTES = 32;

/** Decrypts the private keys of accounts. */
class AccountKeys {
  private readonly unlocked: UnlockedKeys;
  private readonly scheme: Pick<ChainScheme, 'addressToText'>;

  constructor(random: Random, scheme: Pick<ChainScheme, 'addressToText'>) {
    this.unlocked = createUnlockedKeys(random.bytes(SECRET_BYTES));
    this.scheme = scheme;
  }

  /** Returns at once where no scrypt is needed. Throws or rejects with KeyError. */
  open(
    account: HeldAccount,
    given: string | undefined,
    purpose: Purpose,
  ): Uint8Array | Promise<Uint8Array> {
    const { entry, wallet } = account;
    const alias = this.scheme.addressToText(account.address);
    const wrong = (): KeyError => new KeyError(alias, 'Wrong password');
    if (!account.password) {
      const key = given === undefined || given === '' ? unsealEntry(wallet, entry) : undefined;
      if (key === undefined) throw wrong();
      return key;
    }
    if (given === undefined || given === '') throw new KeyError(alias, 'Expected password');
    const name = accountName(account.address);
    const cached = this.unlocked.get(name, given);
    if (cached !== undefined) return cached;
    const derive = () => unlockEntry(wallet, entry, given);
    return this.unlocked.unlock(name, given, derive, purpose).then((key) => {
      if (key === undefined) throw wrong();
      return key;
    });
  }

  wipe(): void {
    this.unlocked.wipe();
  }
}
