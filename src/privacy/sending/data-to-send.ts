/** A request to send data of a policy: its texts, checked and decoded (privacy.md#sending). */
import { base58 } from '../../base/base58.ts';
import { decodeBase64, decodedLength } from '../../base/base64.ts';
import { apiError } from '../../base/errors.ts';
import { decodeHex, SHA256_HEX } from '../../base/hex.ts';
import { PRIVATE_DATA_BYTES_MAX, type PrivateItem } from '../../base/ports/private-store.ts';
import { ID_BYTES } from '../../base/sizes.ts';
import type { TimeSlice } from '../../concurrency/time-slice.ts';
import { sha256InPieces } from '../../crypto/sha256.ts';
import { TEXT_CHARS_MAX } from '../protocol/privacy-messages.ts';

/** The request of a client; its texts are still to be decoded. */
export interface DataToSend {
  readonly sender: string;
  readonly password?: string | undefined;
  readonly policyId: string;
  readonly type?: string | undefined;
  readonly info: {
    readonly filename: string;
    readonly size: string | number | bigint;
    readonly timestamp: number | bigint;
    readonly author: string;
    readonly comment: string;
  };
  /**
   * Base64, as a text or as its ASCII bytes, which must not change until the request is answered.
   */
  readonly data: string | Uint8Array;
  readonly hash: string;
  readonly version?: number | undefined;
  readonly fee?: number | bigint | undefined;
  readonly feeAssetId?: string | undefined;
  readonly timestamp?: number | bigint | undefined;
  /** Says which atomic transaction may hold the hash; only where it is not submitted alone. */
  readonly atomicBadge?: { readonly trustedSender?: string | null | undefined } | undefined;
}

/** Throws ApiError where a field is not allowed or too long. */
export function checkRequest(request: DataToSend): void {
  checkFee(request);
  checkTexts(request);
}

/** The metadata stored with the data. */
export const infoOf = ({
  type = 'file',
  info,
}: DataToSend): Omit<PrivateItem, 'hash' | 'policyId' | 'sender'> => ({
  type,
  filename: info.filename,
  size: String(info.size),
  timestamp: BigInt(info.timestamp),
  author: info.author,
  comment: info.comment,
});

function checkFee({ version = 1, feeAssetId, atomicBadge }: DataToSend): void {
  if (version < 3 && atomicBadge !== undefined) {
    throw apiError(
      'Invalid',
      `'atomicBadge' field is not allowed for the SendDataRequest version '${version}'`,
    );
  }
  if (version === 1 && feeAssetId !== undefined) {
    throw apiError(
      'Invalid',
      `'feeAssetId' field is not allowed for the SendDataRequest version '1'`,
    );
  }
}

function checkTexts({ type = '', info }: DataToSend): void {
  const texts: readonly (readonly [name: string, text: string])[] = [
    ['File name', info.filename],
    ['Author name', info.author],
    ['Comment', info.comment],
    ['Size', String(info.size)],
    ['Type', type],
  ];
  for (const [name, { length }] of texts) {
    if (length > TEXT_CHARS_MAX) {
      const why = `${name} is too long '${length}', maximum is '${TEXT_CHARS_MAX}'`;
      throw apiError('Invalid', why);
    }
  }
}

/** SHA-256 of the data. Throws ApiError where the text is too long or not Base64. */
export async function hashOfData(
  { data }: Pick<DataToSend, 'data'>,
  slice: TimeSlice,
): Promise<Uint8Array> {
  const size = decodedLength(data) ?? 0;
  if (size > PRIVATE_DATA_BYTES_MAX) {
    throw apiError('PolicyDataTooBig', size, PRIVATE_DATA_BYTES_MAX);
  }
  const hash = sha256InPieces();
  const pieces = decodeBase64(data);
  for (;;) {
    const { done, value } = pieces.next();
    if (done !== true) {
      hash.update(value);
      if (slice.isOver()) await slice.yield();
    } else if (value) {
      return hash.digest();
    } else {
      throw apiError('Invalid', 'Failed to decode policy data: it is not Base64');
    }
  }
}

/** The data, after `hashOfData` has accepted them. */
export async function* dataOf(
  { data }: Pick<DataToSend, 'data'>,
  slice: TimeSlice,
): AsyncGenerator<Uint8Array> {
  for (const piece of decodeBase64(data)) {
    yield piece;
    if (slice.isOver()) await slice.yield();
  }
}

const BASE58_CHARS_MAX = 128;
const SHOWN_CHARS_MAX = 200;

/** Base58 of 32 bytes, or 64 hex digits. Throws ApiError. */
export function hashOf(text: string): Uint8Array {
  if (SHA256_HEX.test(text)) return decodeHex(text);
  const why = `Failed to decode policy data hash: '${text.slice(0, SHOWN_CHARS_MAX)}'`;
  const bytes = decode58(text, why);
  if (bytes.length !== ID_BYTES) throw apiError('Invalid', 'Invalid policy data hash length');
  return bytes;
}

/** Accepts any length: bytes that are no id match no policy. Throws ApiError. */
export const policyIdOf = (text: string): Uint8Array =>
  decode58(text, `Failed to decode policyId: '${text.slice(0, SHOWN_CHARS_MAX)}'`);

function decode58(text: string, why: string): Uint8Array {
  try {
    return base58.decode(text, BASE58_CHARS_MAX);
  } catch {
    throw apiError('Invalid', why);
  }
}
