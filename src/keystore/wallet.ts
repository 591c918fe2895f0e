/**
 * Derives a key from the wallet password and each salt, and from that key, with the password of the
 * account if it has one, the key of each account (format.ts).
 */
import type { Random } from '../base/ports/random.ts';
import {
  deriveKey,
  open256,
  type ScryptCost,
  SEAL_IV_BYTES,
  seal256,
  subkey,
} from '../crypto/keystore-cipher.ts';
import { type KeystoreEntry, SALT_BYTES } from './format.ts';

/** The key derived from the wallet password and one salt. */
export interface Wallet {
  readonly cost: ScryptCost;
  readonly salt: Uint8Array;
  readonly key: Uint8Array;
}

export interface NewKey {
  readonly privateKey: Uint8Array;
  /** Absent or empty: only the wallet password protects the key. */
  readonly password?: string | undefined;
}

const PURPOSE = 'platform-node account';

/** Derives one key for each salt and cost, also across reloads. */
export class Wallets {
  private readonly password: string;
  private readonly known = new Map<string, Wallet>();

  constructor(password: string) {
    this.password = password;
  }

  async of(salt: Uint8Array, cost: ScryptCost): Promise<Wallet> {
    const name = `${Buffer.from(salt).toString('hex')} ${cost.N} ${cost.r} ${cost.p}`;
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const wallet = { salt, cost, key: await deriveKey(this.password, salt, cost) };
    this.known.set(name, wallet);
    return wallet;
  }

  wipe(): void {
    for (const { key } of this.known.values()) key.fill(0);
    this.known.clear();
  }
}

function accountKey(wallet: Wallet, kdfSalt: Uint8Array, own?: Uint8Array): Uint8Array {
  const secret = own === undefined ? wallet.key : Buffer.concat([wallet.key, own]);
  return subkey(secret, kdfSalt, PURPOSE);
}

/** The private key of an account without a password; undefined where the entry is damaged. */
export function unsealEntry(wallet: Wallet, entry: KeystoreEntry): Uint8Array | undefined {
  return open256(accountKey(wallet, entry.kdfSalt), entry.sealed, entry.publicKey);
}

/** The private key of an account with a password; undefined where that is wrong. */
export async function unlockEntry(
  wallet: Wallet,
  entry: KeystoreEntry,
  password: string,
): Promise<Uint8Array | undefined> {
  const own = await deriveKey(password, entry.kdfSalt, wallet.cost);
  return open256(accountKey(wallet, entry.kdfSalt, own), entry.sealed, entry.publicKey);
}

export async function sealEntry(
  wallet: Wallet,
  { privateKey, password }: NewKey,
  publicKey: Uint8Array,
  random: Random,
): Promise<KeystoreEntry> {
  const kdfSalt = random.bytes(SALT_BYTES);
  const hasPassword = password !== undefined && password !== '';
  const own = hasPassword ? await deriveKey(password, kdfSalt, wallet.cost) : undefined;
  const key = accountKey(wallet, kdfSalt, own);
  const sealed = seal256(key, random.bytes(SEAL_IV_BYTES), privateKey, publicKey);
  return { publicKey, password: hasPassword, kdfSalt, sealed };
}
