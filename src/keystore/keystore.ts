/**
 * The keys of a node's accounts (node.md#key-files, rest.md#api-keys-in-requests, decision 16).
 *
 * Invariants: private keys are on disk only in encrypted form; a reload takes effect as a whole or
 * not at all; REST clients get the same refusal for a missing key, a missing password and a wrong
 * one.
 */
import { apiError } from '../base/errors.ts';
import type { Log, Random } from '../base/ports.ts';
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
  readonly log?: Log;
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
  /** Like `requestKey`, and signs with the key. */
  sign(
    address: Uint8Array,
    password: string | undefined,
    message: Uint8Array,
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
  const { random, family, scheme } = deps;
  let wallets = new Wallets(options.password);
  let files = new AccountFiles(options, deps, wallets);
  const keys = new AccountKeys(random, scheme);
  let held: HeldAccounts = await files.load(false);

  /** Throws or rejects with KeyError. */
  function keyOf(
    address: Uint8Array,
    given: string | undefined,
    purpose: Purpose,
  ): Uint8Array | Promise<Uint8Array> {
    const account = held.get(accountName(address));
    if (account !== undefined) return keys.open(account, given, purpose);
    throw new KeyError(scheme.addressToText(address), "Key wasn't found");
  }

  const requested = (address: Uint8Array, given: string | undefined, purpose: Purpose) =>
    withOneRefusal(() => keyOf(address, given, purpose));

  function signAndWipe(privateKey: Uint8Array, message: Uint8Array): Uint8Array {
    try {
      return family.sign(privateKey, message, random);
    } finally {
      privateKey.fill(0);
    }
  }

  return {
    accounts: () => [...held.values()],
    addresses: () => Array.from(held.values(), ({ address }) => scheme.addressToText(address)),
    publicKey: (address) => held.get(accountName(address))?.publicKey,
    privateKey: async (address, given) => keyOf(address, given, 'signing'),
    requestKey: (address, given) => requested(address, given, 'encryption'),

    sign(address, given, message) {
      const key = requested(address, given, 'signing');
      if (!(key instanceof Promise)) return signAndWipe(key, message);
      return key.then((privateKey) => signAndWipe(privateKey, message));
    },

    async add(newKeys) {
      const { all, added } = await files.add(newKeys);
      held = all;
      return added;
    },

    async changeAccountPassword(address, current, password) {
      const privateKey = await keyOf(address, current, 'signing');
      held = await files.replace({ privateKey, password });
      keys.wipe();
    },

    async reload(password) {
      const next = password === undefined ? wallets : new Wallets(password);
      try {
        const read = new AccountFiles(options, deps, next);
        held = await read.load(true);
        if (next !== wallets) wallets.wipe();
        [wallets, files] = [next, read];
        keys.wipe();
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        deps.log?.error('keystore.reload.failed', { reason });
        throw apiError('Invalid', 'Wallet was not reloaded, the former one stays in use');
      }
    },

    close() {
      keys.wipe();
      wallets.wipe();
      held = new Map();
    },
  };
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

/** Decrypts the private keys of accounts. */
const SECRET_BYTES = 32;

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
