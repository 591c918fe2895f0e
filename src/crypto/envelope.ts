/**
 * Encryption for a group of accounts (accounts.md#encryption-between-accounts): the data under a
 * content key, the content key wrapped for each recipient.
 */
import { BASE58_TEXT_LENGTH_MAX, base58 } from '../base/base58.ts';
import type { Random } from '../base/ports/random.ts';
import { endlessSlice, type TimeSlice } from '../concurrency/time-slice.ts';
import type { CryptoFamily } from './family.ts';

/** What one recipient needs besides the sender's public key. */
export interface Envelope {
  readonly sealed: Uint8Array;
  readonly wrappedKey: Uint8Array;
}

/** One ciphertext for all; `wrappedKeys` are in the order of the recipients. */
export interface GroupEnvelope {
  readonly sealed: Uint8Array;
  readonly wrappedKeys: readonly Uint8Array[];
}

/**
 * The largest encrypted text, in characters: the largest that the encrypt methods can produce from
 * a request.
 */
export const ENCRYPTED_TEXT_LENGTH_MAX = 256 * 1024;

/**
 * An envelope for each recipient, each with its own content key; `slice` divides the work for many
 * recipients. Rejects with CryptoError.
 */
export async function encryptSeparate(
  family: CryptoFamily,
  privateKey: Uint8Array,
  recipients: readonly Uint8Array[],
  plain: Uint8Array,
  random: Random,
  slice: TimeSlice = endlessSlice,
): Promise<Envelope[]> {
  const envelopes: Envelope[] = [];
  for (const recipient of recipients) {
    const contentKey = random.bytes(family.contentKeySize);
    envelopes.push({
      sealed: family.seal(contentKey, plain, random),
      wrappedKey: family.wrapKey(privateKey, recipient, contentKey, random),
    });
    if (slice.isOver()) await slice.yield();
  }
  return envelopes;
}

/** One content key for all recipients. Rejects with CryptoError. */
export async function encryptCommon(
  family: CryptoFamily,
  privateKey: Uint8Array,
  recipients: readonly Uint8Array[],
  plain: Uint8Array,
  random: Random,
  slice: TimeSlice = endlessSlice,
): Promise<GroupEnvelope> {
  const contentKey = random.bytes(family.contentKeySize);
  const sealed = family.seal(contentKey, plain, random);
  const wrappedKeys: Uint8Array[] = [];
  for (const recipient of recipients) {
    wrappedKeys.push(family.wrapKey(privateKey, recipient, contentKey, random));
    if (slice.isOver()) await slice.yield();
  }
  return { sealed, wrappedKeys };
}

/**
 * The plain bytes, or undefined unless everything authenticates. Both texts are those of a request.
 * Older clients wrote `encryptedText` in Base58, which may look like Base64. So Base58 is tried whenever Base64 does not authenticate.
 */
export function decryptText(
  family: CryptoFamily,
  privateKey: Uint8Array,
  senderPublicKey: Uint8Array,
  encryptedText: string,
  wrappedKey: string,
): Uint8Array | undefined {
  if (encryptedText.length > ENCRYPTED_TEXT_LENGTH_MAX) return undefined;
  const wrapped = fromBase58(wrappedKey, BASE58_TEXT_LENGTH_MAX);
  const contentKey = wrapped && family.unwrapKey(privateKey, senderPublicKey, wrapped);
  if (contentKey === undefined) return undefined;
  const openIfAny = (sealed: Uint8Array | undefined) => sealed && family.open(contentKey, sealed);
  return (
    openIfAny(fromBase64(encryptedText)) ??
    openIfAny(fromBase58(encryptedText, ENCRYPTED_TEXT_LENGTH_MAX))
  );
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function fromBase64(text: string): Uint8Array | undefined {
  return BASE64.test(text) ? Buffer.from(text, 'base64') : undefined;
}

function fromBase58(text: string, lengthMax: number): Uint8Array | undefined {
  try {
    return base58.decode(text, lengthMax);
  } catch {
    return undefined;
  }
}
