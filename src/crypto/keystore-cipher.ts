/**
 * Ciphers of key files (node.md#key-files): scrypt and AES-256-GCM for the native format; PBKDF2,
 * AES-128-ECB and AES-128-GCM with MD5 for the compatible one.
 *
 * Invariants: derivations run on the thread pool, never on the main thread; opening authenticates,
 * so a wrong key gives undefined and never wrong bytes.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  pbkdf2,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';
import { promisify } from 'node:util';
import { sodium } from './sodium.ts';

export interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** About 0.3 s and 128 MiB per guess. */
export const SCRYPT_COST: ScryptCost = { N: 2 ** 17, r: 8, p: 1 };
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** `cost.N` is a power of two. Rejects where there is not enough memory. */
export function deriveKey(
  password: string,
  salt: Uint8Array,
  cost: ScryptCost,
): Promise<Uint8Array> {
  const secret = Buffer.from(password.normalize('NFC'));
  return isForSodium(secret, salt, cost)
    ? sodiumScrypt(secret, salt, cost.N)
    : openSslScrypt(secret, salt, cost);
}

/** libsodium takes two thirds of the time of OpenSSL, but not every cost, salt and password. */
const isForSodium = (secret: Uint8Array, salt: Uint8Array, { N, r, p }: ScryptCost): boolean =>
  r === SODIUM_R &&
  p === 1 &&
  N >= SODIUM_N.min &&
  N <= SODIUM_N.max &&
  salt.length === sodium.crypto_pwhash_scryptsalsa208sha256_SALTBYTES &&
  secret.length > 0;

const SODIUM_R = 8;
const SODIUM_N = { min: 2 ** 10, max: 2 ** 20 } as const;
const BYTES_MAX = 2 ** 31;

/** libsodium derives N from limits of operations and memory; the second is high enough for any N here. */
async function sodiumScrypt(secret: Uint8Array, salt: Uint8Array, N: number): Promise<Uint8Array> {
  const key = new Uint8Array(KEY_BYTES);
  const operations = 4 * SODIUM_R * N;
  await sodium.crypto_pwhash_scryptsalsa208sha256_async(key, secret, salt, operations, BYTES_MAX);
  return key;
}

function openSslScrypt(secret: Uint8Array, salt: Uint8Array, cost: ScryptCost) {
  const options = { ...cost, maxmem: 256 * cost.N * cost.r };
  return new Promise<Uint8Array>((resolve, reject) => {
    scrypt(secret, salt, KEY_BYTES, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

/** Derives a key for one purpose from one or more secrets. */
export function subkey(secret: Uint8Array, salt: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, salt, purpose, KEY_BYTES));
}

export function mac(key: Uint8Array, message: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(message).digest();
}

export const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && timingSafeEqual(a, b);

/** iv(12) ‖ ciphertext ‖ tag(16) */
export function seal256(
  key: Uint8Array,
  iv: Uint8Array,
  plain: Uint8Array,
  associated: Uint8Array,
): Uint8Array {
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(associated);
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

export const SEAL_IV_BYTES = IV_BYTES;

/** Undefined if the key is wrong or the bytes were changed. */
export function open256(
  key: Uint8Array,
  sealed: Uint8Array,
  associated: Uint8Array,
): Uint8Array | undefined {
  if (sealed.length < IV_BYTES + TAG_BYTES) return undefined;
  const iv = sealed.subarray(0, IV_BYTES);
  const cipher = createDecipheriv('aes-256-gcm', key, iv).setAAD(associated);
  cipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    const body = sealed.subarray(IV_BYTES, sealed.length - TAG_BYTES);
    return Buffer.concat([cipher.update(body), cipher.final()]);
  } catch {
    return undefined;
  }
}

const COMPATIBLE_SALT = '0495c728-1614-41f6-8ac3-966c22b4a62d';
const COMPATIBLE_ITERATIONS = 999_999;
const WIDE_IV_BYTES = 16;

/** AES-128-ECB of a whole compatible file; the key takes about half a second. */
export async function compatibleFileKey(password: string): Promise<Uint8Array> {
  return promisify(pbkdf2)(password, COMPATIBLE_SALT, COMPATIBLE_ITERATIONS, 16, 'sha512');
}

export function sealEcb(key: Uint8Array, plain: Uint8Array): Uint8Array {
  const cipher = createCipheriv('aes-128-ecb', key, null);
  return Buffer.concat([cipher.update(plain), cipher.final()]);
}

/** Undefined if the padding is wrong, which reveals a wrong password. */
export function openEcb(key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
  const cipher = createDecipheriv('aes-128-ecb', key, null);
  try {
    return Buffer.concat([cipher.update(sealed), cipher.final()]);
  } catch {
    return undefined;
  }
}

const md5 = (text: string): Uint8Array => createHash('md5').update(text, 'utf8').digest();

/** One key of a compatible file under its own password: iv(16) ‖ AES-128-GCM ‖ tag(16). */
export function sealCompatibleKey(
  password: string,
  iv: Uint8Array,
  privateKey: Uint8Array,
): Uint8Array {
  const cipher = createCipheriv('aes-128-gcm', md5(password), iv);
  return Buffer.concat([iv, cipher.update(privateKey), cipher.final(), cipher.getAuthTag()]);
}

export function openCompatibleKey(password: string, sealed: Uint8Array): Uint8Array | undefined {
  if (sealed.length < WIDE_IV_BYTES + TAG_BYTES) return undefined;
  const iv = sealed.subarray(0, WIDE_IV_BYTES);
  const cipher = createDecipheriv('aes-128-gcm', md5(password), iv);
  cipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    const body = sealed.subarray(WIDE_IV_BYTES, sealed.length - TAG_BYTES);
    return Buffer.concat([cipher.update(body), cipher.final()]);
  } catch {
    return undefined;
  }
}
