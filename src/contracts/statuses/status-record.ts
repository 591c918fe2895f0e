/**
 * What a miner says about the outcome of one contract transaction (contracts.md#status-records):
 *
 *   senderPublicKey k | length 2, txId 32 | length 2, status | 0, or 1 and code 4
 *   | length 2, message | timestamp 8 | signature 64
 *
 * The signature covers all bytes before it. The code is a signed integer.
 */

import { statusLimits } from '../../base/limits/status-limits.ts';
import { ID_BYTES, SIGNATURE_BYTES } from '../../base/sizes.ts';
import { type ChainScheme, CodecError, Reader } from '../../codec/codec.ts';
import { i32, millis, text16, utf8FromBytes } from '../../codec/primitives.ts';
import { scratch } from '../../codec/scratch.ts';
import { option, struct } from '../../codec/struct.ts';
import type { OutcomeStatus } from './status-report.ts';

export interface UnsignedStatus {
  readonly senderPublicKey: Uint8Array;
  readonly txId: Uint8Array;
  readonly status: OutcomeStatus;
  readonly code: number | undefined;
  readonly message: string;
  readonly timestamp: number;
}

export interface StatusRecord extends UnsignedStatus {
  readonly signature: Uint8Array;
}

const STATUSES: readonly OutcomeStatus[] = ['Success', 'Error', 'Failure'];

/** UTF-16 units of a message. */
export const MESSAGE_CHARS_MAX = statusLimits.message.value;
/** A unit takes at most three bytes of UTF-8. */
const MESSAGE_BYTES_MAX = 3 * MESSAGE_CHARS_MAX;
/** More than a record can have. */
export const RECORD_BYTES_MAX = statusLimits.record.value;

const ending = struct({ code: option(i32), message: text16(MESSAGE_BYTES_MAX), timestamp: millis });

/** The text up to the limit, without half a character at its end. */
export function cutMessage(text: string): string {
  if (text.length <= MESSAGE_CHARS_MAX) return text.toWellFormed();
  return text
    .slice(0, MESSAGE_CHARS_MAX)
    .replace(/[\uD800-\uDBFF]$/, '')
    .toWellFormed();
}

/** The bytes that the sender signs. */
export function signedPart(record: UnsignedStatus, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  out.bytes(record.senderPublicKey);
  out.u16(record.txId.length);
  out.bytes(record.txId);
  out.u16(record.status.length);
  out.bytes(Buffer.from(record.status, 'latin1'));
  ending.write(out, record);
  return out.take();
}

/** Throws CodecError. Its bytes are views of the input. */
export function readRecord(src: Reader): StatusRecord {
  const senderPublicKey = src.bytes(src.scheme.publicKeySize);
  const length = src.u16();
  if (length !== ID_BYTES) throw new CodecError('bytes', `${length} bytes are no transaction id`);
  const txId = src.bytes(ID_BYTES);
  const word = utf8FromBytes(src.bytes(src.u16()));
  const status = STATUSES.find((one) => one === word);
  if (status === undefined) throw new CodecError('bytes', 'no status of a contract transaction');
  const { code, message, timestamp } = ending.read(src);
  if (message.length > MESSAGE_CHARS_MAX) throw new CodecError('bytes', 'the message is too long');
  const signature = src.bytes(SIGNATURE_BYTES);
  return { senderPublicKey, txId, status, code, message, timestamp, signature };
}

/** The record in exactly these bytes. Throws CodecError. */
export function decodeRecord(bytes: Uint8Array, scheme: ChainScheme): StatusRecord {
  const src = new Reader(bytes, scheme);
  const record = readRecord(src);
  src.finish();
  return record;
}
