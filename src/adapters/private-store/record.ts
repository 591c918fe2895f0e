/**
 * An item and its data as one byte string, for vendors that store files or objects. So the two can
 * never disagree, and a storage that replaces one object atomically replaces both.
 *
 * Record: magic 8 bytes, length of the item u32, SHA-256 of the item 32 bytes, item as JSON in
 * UTF-8, data to the end.
 */
import { createHash } from 'node:crypto';
import { base58 } from '../../base/base58.ts';
import { concat, equal } from '../../base/bytes.ts';
import { isObject, parse, stringify } from '../../base/json/json.ts';
import type { PrivateItem } from '../../base/ports/private-store.ts';

const MAGIC = Buffer.from('private1');
const LENGTH_AT = MAGIC.length;
const DIGEST_AT = LENGTH_AT + 4;
/** The bytes before the item. */
export const RECORD_PREFIX_BYTES = DIGEST_AT + 32;
/** Far above the limits of an item's texts. */
const ITEM_BYTES_MAX = 4 * 1024 * 1024;

/** The bytes were changed, or never were a record. */
export class DamagedRecord extends Error {
  override name = 'DamagedRecord';
}

/** All bytes before the data. */
export function recordHead(item: PrivateItem): Uint8Array {
  const { policyId, hash, sender, ...texts } = item;
  const ids = {
    policyId: base58.encode(policyId),
    hash: base58.encode(hash),
    sender: base58.encode(sender),
  };
  const json = Buffer.from(stringify({ ...ids, ...texts }));
  if (json.length > ITEM_BYTES_MAX) throw new RangeError(`an item of ${json.length} bytes`);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return concat(MAGIC, length, sha256(json), json);
}

/**
 * The position of the data, from the first RECORD_PREFIX_BYTES of a record. Throws DamagedRecord.
 */
export function dataStart(prefix: Uint8Array): number {
  if (prefix.length < RECORD_PREFIX_BYTES || !equal(prefix.subarray(0, LENGTH_AT), MAGIC)) {
    throw new DamagedRecord('this is no record');
  }
  const length = Buffer.from(prefix.buffer, prefix.byteOffset).readUInt32BE(LENGTH_AT);
  if (length > ITEM_BYTES_MAX) throw new DamagedRecord(`an item of ${length} bytes`);
  return RECORD_PREFIX_BYTES + length;
}

/** The item in the bytes before the data. Throws DamagedRecord. */
export function itemIn(head: Uint8Array): PrivateItem {
  const json = head.subarray(RECORD_PREFIX_BYTES);
  if (!equal(head.subarray(DIGEST_AT, RECORD_PREFIX_BYTES), sha256(json))) {
    throw new DamagedRecord('the item is not what was written');
  }
  const fields = parse(Buffer.from(json).toString());
  if (!isObject(fields)) throw new DamagedRecord('the item is no object');
  const text = (name: string): string => {
    const value = fields[name];
    if (typeof value !== 'string') throw new DamagedRecord(`the item has no ${name}`);
    return value;
  };
  return {
    policyId: base58.decode(text('policyId')),
    hash: base58.decode(text('hash')),
    sender: base58.decode(text('sender')),
    type: text('type'),
    filename: text('filename'),
    size: text('size'),
    timestamp: BigInt(fields['timestamp'] as number | bigint),
    author: text('author'),
    comment: text('comment'),
  };
}

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
