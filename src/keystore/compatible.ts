/**
 * The key file of other nodes of the first family (node.md#key-files), for import and export:
 * Base64 of AES-128-ECB of {"entries":[{"publicKey","privateKey"}]} in Base58, where a key with a
 * password of its own is iv ‖ AES-128-GCM ‖ tag, 64 bytes. An empty file has no accounts.
 */
import { base58 } from '../base/base58.ts';
import { isObject, parse } from '../base/json/json.ts';
import type { Random } from '../base/ports/random.ts';
import {
  compatibleFileKey,
  openCompatibleKey,
  openEcb,
  sealCompatibleKey,
  sealEcb,
} from '../crypto/keystore-cipher.ts';
import { fromBase58 } from './format.ts';
import { KeystoreError } from './keystore-errors.ts';

const PRIVATE_KEY_BYTES = 32;
const SEALED_BYTES = 64;
const GCM_IV_BYTES = 16;

export interface CompatibleEntry {
  readonly publicKey: Uint8Array;
  /** 32 bytes, or 64 where the account has a password of its own. */
  readonly privateKey: Uint8Array;
}

/** Throws KeystoreError: `Wrong password` where the file cannot be decrypted. */
export async function readCompatible(
  bytes: Uint8Array,
  password: string,
): Promise<CompatibleEntry[]> {
  const text = new TextDecoder().decode(bytes).trim();
  if (text === '') return [];
  if (!/^[A-Za-z0-9+/\s]+={0,2}$/.test(text)) {
    throw new KeystoreError('This is no key file of another node: it is not Base64');
  }
  const plain = openEcb(await compatibleFileKey(password), Buffer.from(text, 'base64'));
  const json = plain && tryParse(new TextDecoder().decode(plain));
  if (!isObject(json) || !Array.isArray(json['entries'])) throw new KeystoreError('Wrong password');
  return json['entries'].map((entry: unknown) => {
    const publicKey = isObject(entry) ? fromBase58(entry['publicKey']) : undefined;
    const privateKey = isObject(entry) ? fromBase58(entry['privateKey']) : undefined;
    const length = privateKey?.length;
    if (publicKey === undefined || privateKey === undefined) {
      throw new KeystoreError('The key file is damaged: an entry has no keys');
    }
    if (length !== PRIVATE_KEY_BYTES && length !== SEALED_BYTES) {
      throw new KeystoreError(`The key file is damaged: a private key of ${length} bytes`);
    }
    return { publicKey, privateKey };
  });
}

function tryParse(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

export const hasPassword = (entry: CompatibleEntry): boolean =>
  entry.privateKey.length === SEALED_BYTES;

/** The bare private key; undefined if the password is wrong. */
export function openEntry(
  entry: CompatibleEntry,
  password: string | undefined,
): Uint8Array | undefined {
  if (!hasPassword(entry)) return entry.privateKey;
  return password === undefined ? undefined : openCompatibleKey(password, entry.privateKey);
}

export interface ExportedKey {
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
  /** Password of the account, if it has one of its own. */
  readonly password?: string | undefined;
}

export async function writeCompatible(
  keys: readonly ExportedKey[],
  password: string,
  random: Random,
): Promise<Uint8Array> {
  const entries = keys.map(({ publicKey, privateKey, password: own }) => ({
    publicKey: base58.encode(publicKey),
    privateKey: base58.encode(
      own === undefined || own === ''
        ? privateKey
        : sealCompatibleKey(own, random.bytes(GCM_IV_BYTES), privateKey),
    ),
  }));
  const plain = new TextEncoder().encode(JSON.stringify({ entries }));
  const sealed = sealEcb(await compatibleFileKey(password), plain);
  return new TextEncoder().encode(Buffer.from(sealed).toString('base64'));
}
