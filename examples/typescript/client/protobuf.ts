/** Protocol buffers, as far as the node's messages need them: fields by number, no groups. */

export type Kind = 'string' | 'bytes' | 'int32' | 'int64' | 'bool' | Shape;

export interface Field {
  readonly number: number;
  readonly kind: Kind;
  readonly repeated?: true;
}

/** The fields of a message, by name. */
export type Shape = { readonly [name: string]: Field };

/** Integers of 64 bits are bigint, those of 32 bits number. Absent fields are left out. */
export type Message = { readonly [name: string]: unknown };

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

export function encode(shape: Shape, message: Message): Buffer {
  const parts: Uint8Array[] = [];
  for (const [name, { number, kind, repeated }] of Object.entries(shape)) {
    const value = message[name];
    if (value === undefined) continue;
    for (const one of repeated === true ? (value as readonly unknown[]) : [value]) {
      const wire = typeof kind === 'string' && kind !== 'string' && kind !== 'bytes';
      parts.push(varint(BigInt((number << 3) | (wire ? VARINT : BYTES))));
      if (wire) {
        parts.push(varint(BigInt.asUintN(64, BigInt(one as bigint | number | boolean))));
        continue;
      }
      const bytes = bytesOf(kind, one);
      parts.push(varint(BigInt(bytes.length)), bytes);
    }
  }
  return Buffer.concat(parts);
}

function bytesOf(kind: Kind, value: unknown): Uint8Array {
  if (kind === 'string') return Buffer.from(value as string);
  return kind === 'bytes' ? (value as Uint8Array) : encode(kind as Shape, value as Message);
}

function varint(value: bigint): Uint8Array {
  const out: number[] = [];
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) out.push(Number(rest & 0x7fn) | 0x80);
  out.push(Number(rest));
  return Uint8Array.from(out);
}

export function decode(shape: Shape, bytes: Buffer): Message {
  const fields = new Map(Object.entries(shape).map((entry) => [entry[1].number, entry]));
  const message: Record<string, unknown> = {};
  const reader = { bytes, at: 0 };
  while (reader.at < bytes.length) {
    const tag = Number(readVarint(reader));
    const raw = readValue(reader, tag & 7);
    const entry = fields.get(tag >>> 3);
    // A newer node may send fields that this program does not know.
    if (entry === undefined) continue;
    const [name, { kind, repeated }] = entry;
    const value = fieldValue(kind, raw);
    if (repeated === true) message[name] = [...((message[name] as unknown[]) ?? []), value];
    else message[name] = value;
  }
  return message;
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

function readVarint(reader: Reader): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = reader.bytes.readUInt8(reader.at++);
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw new Error('a number of the message is too long');
}

function readValue(reader: Reader, wire: number): bigint | Buffer {
  if (wire === VARINT) return readVarint(reader);
  const lengths: { readonly [wire: number]: number } = { [FIXED64]: 8, [FIXED32]: 4 };
  const length = wire === BYTES ? Number(readVarint(reader)) : lengths[wire];
  if (length === undefined || reader.at + length > reader.bytes.length) {
    throw new Error('the message is damaged');
  }
  reader.at += length;
  return reader.bytes.subarray(reader.at - length, reader.at);
}

function fieldValue(kind: Kind, raw: bigint | Buffer): unknown {
  if (kind === 'int64') return BigInt.asIntN(64, raw as bigint);
  if (kind === 'int32') return Number(BigInt.asIntN(32, raw as bigint));
  if (kind === 'bool') return raw !== 0n;
  if (kind === 'string') return (raw as Buffer).toString();
  return kind === 'bytes' ? raw : decode(kind, raw as Buffer);
}
