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
  deriveKey,
  open256,
  SCRYPT_COST,
  type ScryptCost,
  SEAL_IV_BYTES,
  seal256,
  subkey,
} from '../crypto/keystore-cipher.ts';
import { type Entry, isGenuine, parseKeyFile, printKeyFile, SALT_BYTES } from './format.ts';
import { KeyError, KeystoreError } from './keystore-errors.ts';
import { type KeystoreFiles, type Layout, readKeyFiles, splitByLayout } from './location.ts';
import { createUnlockedKeys, type Purpose } from './unlock.ts';

export interface KeystoreOptions {
  /** `wallet.file`: a file, or a folder with layout `directory`. */
  readonly path: string;
  readonly layout: Layout;
  readonly password: string;
  /** A lower cost is for tests only. */
  readonly cost?: ScryptCost;
}

export interface KeystoreDeps {
  readonly files: KeystoreFiles;
  readonly random: Random;
  readonly family: Pick<CryptoFamily, 'publicKeyOf' | 'sign'>;
  readonly scheme: Pick<ChainScheme, 'addressOf' | 'addressToText'>;
  readonly log?: Log;
}

export interface Account {
  readonly address: Uint8Array;
  readonly publicKey: Uint8Array;
  /** True if the account has a password of its own. */
  readonly password: boolean;
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
  /** Reads the files again. On any error the old accounts stay, and it rejects with ApiError. */
  reload(): Promise<void>;
  /** Overwrites the keys in memory. */
  close(): void;
}

export interface NewKey {
  readonly privateKey: Uint8Array;
  /** Absent or empty: only the wallet password protects the key. */
  readonly password?: string | undefined;
}

/** The keys derived from the wallet password and one salt. */
interface Wallet {
  readonly cost: ScryptCost;
  readonly salt: Uint8Array;
  readonly key: Uint8Array;
}

interface Held extends Account {
  readonly entry: Entry;
  readonly wallet: Wallet;
}

const PURPOSE = 'platform-node account';
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Opens a keystore; a missing one is empty. Rejects with KeystoreError. */
export async function openKeystore(
  options: KeystoreOptions,
  deps: KeystoreDeps,
): Promise<Keystore> {
  const { path, layout, password } = options;
  const { files, random, family, scheme } = deps;
  const unlocked = createUnlockedKeys(random.bytes(32));
  const wallets = new Map<string, Wallet>();
  let held = await load(false);

  /** One derivation for each salt and cost, also across reloads. */
  async function walletFor(salt: Uint8Array, cost: ScryptCost): Promise<Wallet> {
    const name = `${hex(salt)} ${cost.N} ${cost.r} ${cost.p}`;
    const known = wallets.get(name);
    if (known !== undefined) return known;
    const wallet = { salt, cost, key: await deriveKey(password, salt, cost) };
    wallets.set(name, wallet);
    return wallet;
  }

  async function load(mustExist: boolean): Promise<Map<string, Held>> {
    const isFolder = files.isDirectory(path);
    if (isFolder !== (layout === 'directory') && files.exists(path)) {
      const [is, must] = isFolder ? ['a folder', 'a file'] : ['a file', 'a folder'];
      throw new KeystoreError(`'${path}' is ${is}, but with this cryptography it must be ${must}`);
    }
    const found = readKeyFiles(files, path, layout);
    if (mustExist && found.length === 0) throw new KeystoreError(`'${path}' is missing or empty`);
    const accounts = new Map<string, Held>();
    for (const { name, bytes } of found) {
      const file = parseKeyFile(bytes, name);
      const wallet = await walletFor(file.salt, file.cost);
      if (!isGenuine(file, wallet.key)) {
        throw new KeystoreError(`Wrong password of the wallet '${name}', or the file was changed`);
      }
      for (const entry of file.entries) {
        const address = scheme.addressOf(entry.publicKey);
        const { publicKey } = entry;
        accounts.set(hex(address), { address, publicKey, password: entry.password, entry, wallet });
      }
    }
    return accounts;
  }

  function accountKey(wallet: Wallet, entry: Pick<Entry, 'kdfSalt'>, own?: Uint8Array): Uint8Array {
    const secret = own === undefined ? wallet.key : Buffer.concat([wallet.key, own]);
    return subkey(secret, entry.kdfSalt, PURPOSE);
  }

  function find(address: Uint8Array, given: string | undefined): Held {
    const account = held.get(hex(address));
    const alias = scheme.addressToText(address);
    if (account === undefined) throw new KeyError(alias, "Key wasn't found");
    const hasPassword = given !== undefined && given !== '';
    if (account.password && !hasPassword) throw new KeyError(alias, 'Expected password');
    if (!account.password && hasPassword) throw new KeyError(alias, 'Wrong password');
    return account;
  }

  /** Synchronous where no scrypt is needed. Throws or rejects with KeyError. */
  function keyOf(
    address: Uint8Array,
    given: string | undefined,
    purpose: Purpose,
  ): Uint8Array | Promise<Uint8Array> {
    const account = find(address, given);
    const { entry, wallet } = account;
    const wrong = new KeyError(scheme.addressToText(address), 'Wrong password');
    if (!account.password) {
      const key = open256(accountKey(wallet, entry), entry.sealed, entry.publicKey);
      if (key === undefined) throw wrong;
      return key;
    }
    const id = hex(address);
    const cached = unlocked.get(id, given!);
    if (cached !== undefined) return cached;
    const derive = async (): Promise<Uint8Array | undefined> => {
      const own = await deriveKey(given!, entry.kdfSalt, wallet.cost);
      return open256(accountKey(wallet, entry, own), entry.sealed, entry.publicKey);
    };
    return unlocked.unlock(id, given!, derive, purpose).then((key) => {
      if (key === undefined) throw wrong;
      return key;
    });
  }

  const missing = (cause: unknown): never => {
    throw cause instanceof KeyError ? apiError('MissingSenderPrivateKey') : cause;
  };

  function requested(
    address: Uint8Array,
    given: string | undefined,
    purpose: Purpose,
  ): Uint8Array | Promise<Uint8Array> {
    try {
      const key = keyOf(address, given, purpose);
      return key instanceof Promise ? key.catch(missing) : key;
    } catch (cause) {
      return missing(cause);
    }
  }

  async function sealKey({ privateKey, password: own }: NewKey, wallet: Wallet): Promise<Entry> {
    const publicKey = family.publicKeyOf(privateKey);
    const kdfSalt = random.bytes(SALT_BYTES);
    const hasPassword = own !== undefined && own !== '';
    const stretched = hasPassword ? await deriveKey(own, kdfSalt, wallet.cost) : undefined;
    const key = accountKey(wallet, { kdfSalt }, stretched);
    const sealed = seal256(key, random.bytes(SEAL_IV_BYTES), privateKey, publicKey);
    return { publicKey, password: hasPassword, kdfSalt, sealed };
  }

  return {
    accounts: () => [...held.values()],
    addresses: () => [...held.values()].map(({ address }) => scheme.addressToText(address)),
    publicKey: (address) => held.get(hex(address))?.publicKey,
    privateKey: async (address, given) => keyOf(address, given, 'signing'),
    requestKey: (address, given) => requested(address, given, 'encryption'),

    sign(address, given, message) {
      const key = requested(address, given, 'signing');
      if (!(key instanceof Promise)) return signAndWipe(key, message);
      return key.then((privateKey) => signAndWipe(privateKey, message));
    },

    async add(keys) {
      // Another process may have written since, so the accounts are added to what is on disk.
      const current = await load(false);
      const first = current.values().next().value;
      const wallet =
        first?.wallet ?? (await walletFor(random.bytes(SALT_BYTES), options.cost ?? SCRYPT_COST));
      const added: Held[] = [];
      for (const key of keys) {
        const entry = await sealKey(key, wallet);
        const address = scheme.addressOf(entry.publicKey);
        if (current.has(hex(address))) continue;
        const account = {
          address,
          publicKey: entry.publicKey,
          password: entry.password,
          entry,
          wallet,
        };
        current.set(hex(address), account);
        added.push(account);
      }
      const entries = layout === 'file' ? [...current.values()] : added;
      const file = {
        cost: wallet.cost,
        salt: wallet.salt,
        entries: entries.map(({ entry }) => entry),
      };
      for (const part of splitByLayout(file, path, layout)) {
        files.replace(part.name, printKeyFile(part.file, wallet.key), { secret: true });
      }
      held = current;
      return added;
    },

    async reload() {
      try {
        const next = await load(true);
        held = next;
        unlocked.wipe();
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        deps.log?.error('keystore.reload.failed', { reason });
        throw apiError('Invalid', 'Wallet was not reloaded, the former one stays in use');
      }
    },

    close() {
      unlocked.wipe();
      for (const wallet of wallets.values()) wallet.key.fill(0);
      wallets.clear();
      held = new Map();
    },
  };

  function signAndWipe(privateKey: Uint8Array, message: Uint8Array): Uint8Array {
    try {
      return family.sign(privateKey, message, random);
    } finally {
      privateKey.fill(0);
    }
  }
}
