/** Entries and 64-bit integers, as values of the node and as fields of messages. */
import type { DataEntry } from '../../../base/ports/containers.ts';
import type { GrpcEntry, Int64 } from './rpcs.ts';
import { GrpcRefusal } from './status.ts';

export const toInt64 = (value: bigint): Int64 => ({
  low: Number(BigInt.asIntN(32, value)),
  high: Number(BigInt.asIntN(32, value >> 32n)),
});

export const fromInt64 = ({ low, high }: Int64): bigint =>
  (BigInt(high) << 32n) | BigInt(low >>> 0);

/** Exact up to 2^53, which covers every time and height. */
export const numberOf = ({ low, high }: Int64): number => high * 2 ** 32 + (low >>> 0);

export function toEntry(entry: DataEntry): GrpcEntry {
  const { key } = entry;
  if (entry.type === 'integer') return { key, intValue: toInt64(entry.value) };
  if (entry.type === 'boolean') return { key, boolValue: entry.value };
  if (entry.type === 'binary') return { key, binaryValue: entry.value };
  return { key, stringValue: entry.value };
}

/** Throws GrpcRefusal where an entry has no value. */
export function fromEntry(entry: GrpcEntry): DataEntry {
  const { key } = entry;
  // What the message leaves out stands in the prototype.
  if (Object.hasOwn(entry, 'stringValue'))
    return { key, type: 'string', value: entry.stringValue! };
  if (Object.hasOwn(entry, 'intValue')) {
    return { key, type: 'integer', value: fromInt64(entry.intValue!) };
  }
  if (Object.hasOwn(entry, 'boolValue')) return { key, type: 'boolean', value: entry.boolValue! };
  if (Object.hasOwn(entry, 'binaryValue')) {
    // A copy: the message shares the memory of all that its connection received.
    return { key, type: 'binary', value: Uint8Array.from(entry.binaryValue!) };
  }
  throw new GrpcRefusal('INVALID_ARGUMENT', `The entry '${key}' has no value`);
}
