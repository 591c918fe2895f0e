/**
 * The native key file, version 2 (node.md#key-files):
 *
 *   {"version": 2,
 *    "kdf": {"name": "scrypt", "N": 131072, "r": 8, "p": 1, "salt": "<Base64, 32 bytes>"},
 *    "entries": [{"publicKey": "<Base58>", "password": true, "kdfSalt": "<Base64, 32 bytes>",
 *                 "privateKey": "<Base64 of iv(12) ‖ AES-256-GCM ‖ tag(16)>"}, …],
 *    "mac": "<Base64>"}
 *
 *   W = scrypt(wallet password, salt)
 *   key of an account = HKDF-SHA256(W, kdfSalt, "platform-node account")
 *       with a password of its own: HKDF-SHA256(W ‖ scrypt(password, kdfSalt), kdfSalt, same)
 *   mac = HMAC-SHA256(HKDF-SHA256(W, salt, "platform-node entries"), everything before it)
 *
 * Invariants: the public key is the associated data of its private key, so entries cannot be
 * swapped; the mac covers the list, so no entry can be added or dropped without the wallet
 * password. The mac also reveals a wrong wallet password at once, even in a file without accounts.
 */
import { base58 } from '../base/base58.ts';
import { isObject, parse } from '../base/json/json.ts';
import { mac, type ScryptCost, sameBytes, subkey } from '../crypto/keystore-cipher.ts';
import { KeystoreError } from './keystore-errors.ts';

export const SALT_BYTES = 32;
// Files come from disk; a manipulated cost must not use up the memory before the mac is checked.
const MAX_N = 2 ** 20;
const MAX_ENTRIES = 100_000;

export interface KeystoreEntry {
  readonly publicKey: Uint8Array;
  /** True if the account has a password of its own. */
  readonly password: boolean;
  readonly kdfSalt: Uint8Array;
  readonly sealed: Uint8Array;
}

export interface KeyFile {
  readonly cost: ScryptCost;
  readonly salt: Uint8Array;
  readonly entries: readonly KeystoreEntry[];
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

function body(file: KeyFile): Record<string, unknown> {
  return {
    version: 2,
    kdf: { name: 'scrypt', ...file.cost, salt: base64(file.salt) },
    entries: file.entries.map((entry) => ({
      publicKey: base58.encode(entry.publicKey),
      password: entry.password,
      kdfSalt: base64(entry.kdfSalt),
      privateKey: base64(entry.sealed),
    })),
  };
}

function macOf(file: KeyFile, walletKey: Uint8Array): Uint8Array {
  const key = subkey(walletKey, file.salt, 'platform-node entries');
  return mac(key, new TextEncoder().encode(JSON.stringify(body(file))));
}

export function printKeyFile(file: KeyFile, walletKey: Uint8Array): Uint8Array {
  const text = JSON.stringify({ ...body(file), mac: base64(macOf(file, walletKey)) }, undefined, 1);
  return new TextEncoder().encode(`${text}\n`);
}

export interface UncheckedKeyFile extends KeyFile {
  readonly mac: Uint8Array;
}

/** True if the wallet password is right and the file was not changed. */
export const isGenuine = (file: UncheckedKeyFile, walletKey: Uint8Array): boolean =>
  sameBytes(macOf(file, walletKey), file.mac);

/** Throws KeystoreError unless the bytes are a native key file. */
export function parseKeyFile(bytes: Uint8Array, name: string): UncheckedKeyFile {
  const json = readJson(bytes);
  const kdf = isObject(json) && json['version'] === 2 ? json['kdf'] : undefined;
  if (!isObject(json) || !isObject(kdf) || kdf['name'] !== 'scrypt') {
    const hint = 'import files of other nodes with: platform-node keystore import';
    throw new KeystoreError(`'${name}' is not a key file of version 2 (${hint})`);
  }
  const broken = (what: string): KeystoreError =>
    new KeystoreError(`The key file '${name}' is damaged: ${what}`);
  const list = json['entries'];
  if (!Array.isArray(list) || list.length > MAX_ENTRIES) throw broken('entries');
  return {
    cost: {
      N: powerOfTwo(kdf['N'], MAX_N) ?? fail(broken('N')),
      r: whole(kdf['r'], 32) ?? fail(broken('r')),
      p: whole(kdf['p'], 16) ?? fail(broken('p')),
    },
    salt: fromBase64(kdf['salt'], SALT_BYTES) ?? fail(broken('salt')),
    mac: fromBase64(json['mac'], 32) ?? fail(broken('mac')),
    entries: list.map(
      (entry: unknown, index) => readEntry(entry) ?? fail(broken(`entry ${index}`)),
    ),
  };
}

function readEntry(json: unknown): KeystoreEntry | undefined {
  if (!isObject(json) || typeof json['password'] !== 'boolean') return undefined;
  const publicKey = fromBase58(json['publicKey']);
  const kdfSalt = fromBase64(json['kdfSalt'], SALT_BYTES);
  const sealed = fromBase64(json['privateKey']);
  if (publicKey === undefined || kdfSalt === undefined || sealed === undefined) return undefined;
  return { publicKey, password: json['password'], kdfSalt, sealed };
}

/** Undefined where the bytes are no JSON. */
function readJson(bytes: Uint8Array): unknown {
  try {
    return parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function whole(value: unknown, max: number): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max
    ? value
    : undefined;
}

function powerOfTwo(value: unknown, max: number): number | undefined {
  const power = whole(value, max);
  return power !== undefined && Number.isInteger(Math.log2(power)) ? power : undefined;
}

function fromBase64(value: unknown, length?: number): Uint8Array | undefined {
  if (typeof value !== 'string' || value.length > 1024) return undefined;
  const bytes = Buffer.from(value, 'base64');
  // Only the canonical text is accepted, because the mac is computed over it.
  if (base64(bytes) !== value || (length !== undefined && bytes.length !== length))
    return undefined;
  return bytes;
}

export function fromBase58(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'string' || value.length > 128) return undefined;
  try {
    return base58.decode(value);
  } catch {
    return undefined;
  }
}

function fail(error: KeystoreError): never {
  throw error;
}
