/**
 * What the built-in functions compute (docs/protocol/scripts.md#functions). Each one is exact,
 * bounded in the size of its result, and fails with EvaluationFailure only.
 */
import { base58 as alphabet58 } from '../../base/base58.ts';
import { equal, utf8 } from '../../base/bytes.ts';
import { I64_MAX, I64_MIN, isI64 } from '../../base/int.ts';
import { ADDRESS_BYTES } from '../../base/sizes.ts';
import { caseTypes } from '../language/case-types.ts';
import {
  type CaseObject,
  caseObject,
  EvaluationFailure,
  isBytes,
  isObject,
  kindOf,
  UNIT,
  type Value,
} from '../language/values.ts';
import { contentUnits, decodedUnits, elementUnits, partUnits, recordUnits } from './charges.ts';
import type { Environment, FoundTransaction } from './environment.ts';
import type { Meter } from './meter.ts';

const BYTES_MAX = 65_536;
/** Characters of a value that a message shows. */
const SHOWN_LENGTH_MAX = 100;
const TEXT_LENGTH_MAX = 32_767;
const BASE58_BYTES_MAX = 64;
const BASE58_LENGTH_MAX = 100;
const BASE64_BYTES_MAX = 32_768;
const BASE64_LENGTH_MAX = 45_056;
const ADDRESS_PREFIX = 'address:';
const ADDRESS_VERSION = 1;
const HASH_END = 22;

export const fail = (text: string): never => {
  throw new EvaluationFailure(text);
};

// ── numbers ──────────────────────────────────────────────────────────────────────────────────

export const checked = (value: bigint): bigint => (isI64(value) ? value : fail('long overflow'));

/** Rounds down. The least number divided by −1 is itself, as in 64-bit arithmetic. */
export function divide(a: bigint, b: bigint): bigint {
  if (b === 0n) return fail('/ by zero');
  const quotient = a / b;
  return BigInt.asIntN(64, a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient);
}

export function modulo(a: bigint, b: bigint): bigint {
  if (b === 0n) return fail('/ by zero');
  const rest = a % b;
  return rest !== 0n && rest < 0n !== b < 0n ? rest + b : rest;
}

/** a·b/c in exact arithmetic, rounded towards zero; both limits themselves are refused. */
export function fraction(a: bigint, b: bigint, c: bigint): bigint {
  if (c === 0n) return fail('BigInteger divide by zero');
  const value = (a * b) / c;
  if (value >= I64_MAX) fail(`Long overflow: value \`${value}\` greater than 2^63-1`);
  if (value <= I64_MIN) fail(`Long overflow: value \`${value}\` less than -2^63-1`);
  return value;
}

export function longBytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value);
  return bytes;
}

// ── sequences ────────────────────────────────────────────────────────────────────────────────

type Sequence = Uint8Array | string;

/** A count is clamped: a negative one is nothing, one above the size is all. */
function clamp(count: bigint, size: number): number {
  if (count <= 0n) return 0;
  return count >= BigInt(size) ? size : Number(count);
}

export function take<S extends Sequence>(from: S, count: bigint): S {
  return from.slice(0, clamp(count, from.length)) as S;
}

export function drop<S extends Sequence>(from: S, count: bigint): S {
  return from.slice(clamp(count, from.length)) as S;
}

/** `drop` and `take` of the size less the count, and that difference is checked. */
export const takeRight = <S extends Sequence>(from: S, count: bigint): S =>
  drop(from, checked(BigInt(from.length) - count));

export const dropRight = <S extends Sequence>(from: S, count: bigint): S =>
  take(from, checked(BigInt(from.length) - count));

export function joinBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length + b.length > BYTES_MAX) fail('ByteVector is too large');
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

export const joinTexts = (a: string, b: string): string =>
  a.length + b.length > TEXT_LENGTH_MAX ? fail('String is too large') : a + b;

/**
 * A text of the greatest length can have half again as many bytes as any other byte string. Without
 * a budget that is no failure, as it was none before there were budgets.
 */
export function textBytes(text: string, _env: Environment, meter: Meter): Uint8Array {
  const bytes = utf8(text);
  return meter.isLimited && bytes.length > BYTES_MAX ? fail('ByteVector is too large') : bytes;
}

/** An index is taken as a 32-bit number. */
export function elementOf(items: readonly Value[], index: bigint): Value {
  const at = Number(BigInt.asIntN(32, index));
  return items[at] ?? fail(`Index out of bounds: ${at}`);
}

// ── texts of bytes ───────────────────────────────────────────────────────────────────────────

export const toBase58 = (bytes: Uint8Array): string =>
  bytes.length > BASE58_BYTES_MAX
    ? fail(`base58Encode input exceeds ${BASE58_BYTES_MAX}`)
    : alphabet58.encode(bytes);

export const fromBase58 = (text: string): Uint8Array =>
  text.length > BASE58_LENGTH_MAX
    ? fail(`base58Decode input exceeds ${BASE58_LENGTH_MAX}`)
    : (bytesOfBase58(text) ?? fail("can't parse Base58 string"));

/** Undefined where the text is not Base58. */
export function bytesOfBase58(text: string): Uint8Array | undefined {
  try {
    return alphabet58.decode(text, text.length);
  } catch {
    return undefined;
  }
}

export const toBase64 = (bytes: Uint8Array): string =>
  bytes.length > BASE64_BYTES_MAX
    ? fail(`base64Encode input exceeds ${BASE64_BYTES_MAX}`)
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');

export const fromBase64 = (text: string): Uint8Array =>
  text.length > BASE64_LENGTH_MAX
    ? fail(`base64Decode input exceeds ${BASE64_LENGTH_MAX}`)
    : (bytesOfBase64(text) ?? fail("can't parse Base64 string"));

const BASE64_PREFIX = 'base64:';
/** Anchored and without alternatives, so that its time is linear in the length of the text. */
const BASE64 = /^([A-Za-z0-9+/]*)(={0,2})$/;

/** The prefix and the padding are optional. Undefined where the text is not Base64. */
export function bytesOfBase64(text: string): Uint8Array | undefined {
  const bare = text.startsWith(BASE64_PREFIX) ? text.slice(BASE64_PREFIX.length) : text;
  const [, digits, padding] = BASE64.exec(bare) ?? [];
  if (digits === undefined || digits.length % 4 === 1) return undefined;
  if (padding !== '' && bare.length % 4 !== 0) return undefined;
  return new Uint8Array(Buffer.from(digits, 'base64'));
}

// ── accounts ─────────────────────────────────────────────────────────────────────────────────

/** The bytes of an address, or of the account that an alias names; undefined without one. */
function accountOf(recipient: CaseObject, env: Environment): Uint8Array | undefined {
  if (recipient.type === 'Alias') {
    const alias = recipient.fields.get('alias');
    return typeof alias === 'string' ? env.addressOfAlias(alias) : undefined;
  }
  const bytes = recipient.fields.get('bytes');
  return bytes !== undefined && isBytes(bytes) && env.isAddress(bytes) ? bytes : undefined;
}

const knownAccount = (recipient: CaseObject, env: Environment): Uint8Array =>
  accountOf(recipient, env) ??
  fail(
    recipient.type === 'Alias'
      ? `Alias '${shown(recipient.fields.get('alias'))}' does not exist`
      : 'Invalid address',
  );

/** A constructor takes values of any type and size. */
const shown = (value: Value | undefined): string =>
  typeof value === 'string' ? value.slice(0, SHOWN_LENGTH_MAX) : '';

const addressObject = (bytes: Uint8Array): CaseObject => caseObject('Address', { bytes });

export const addressFromRecipient = (recipient: CaseObject, env: Environment): CaseObject =>
  recipient.type === 'Address' ? recipient : addressObject(knownAccount(recipient, env));

export function addressFromPublicKey(publicKey: Uint8Array, env: Environment): CaseObject {
  const bytes = new Uint8Array(ADDRESS_BYTES);
  bytes[0] = ADDRESS_VERSION;
  bytes[1] = env.chainId;
  bytes.set(env.hashes.secureHash(publicKey).subarray(0, HASH_END - 2), 2);
  bytes.set(checksum(bytes, env), HASH_END);
  return addressObject(bytes);
}

export function addressFromString(text: string, env: Environment): CaseObject {
  const bare = text.startsWith(ADDRESS_PREFIX) ? text.slice(ADDRESS_PREFIX.length) : text;
  const bytes = fromBase58(bare);
  return isAddressOf(env, bytes) ? addressObject(bytes) : UNIT;
}

type Network = Pick<Environment, 'chainId' | 'hashes'>;

export const isAddressOf = (network: Network, bytes: Uint8Array): boolean =>
  bytes.length === ADDRESS_BYTES &&
  bytes[0] === ADDRESS_VERSION &&
  bytes[1] === network.chainId &&
  equal(checksum(bytes, network), bytes.subarray(HASH_END));

const checksum = (bytes: Uint8Array, { hashes }: Network): Uint8Array =>
  hashes.secureHash(bytes.subarray(0, HASH_END)).subarray(0, ADDRESS_BYTES - HASH_END);

export const balance = (account: CaseObject, asset: Value, env: Environment): bigint =>
  env.balance(knownAccount(account, env), isBytes(asset) ? asset : undefined);

// ── data entries ─────────────────────────────────────────────────────────────────────────────

const ofKind = (kind: string, value: Value | undefined): Value =>
  value !== undefined && kindOf(value) === kind ? value : UNIT;

/** The value of the first entry with the key. */
export const entryByKey =
  (kind: string) =>
  (entries: readonly Value[], key: string): Value => {
    const entry = entries.find((item) => isObject(item) && item.fields.get('key') === key);
    return ofKind(
      kind,
      entry === undefined ? undefined : (entry as CaseObject).fields.get('value'),
    );
  };

export const entryByIndex =
  (kind: string) =>
  (entries: readonly Value[], index: bigint): Value =>
    ofKind(kind, fieldOf(elementOf(entries, index), 'value'));

export const entryOfAccount =
  (kind: string) =>
  (account: CaseObject, key: string, env: Environment, meter: Meter): Value => {
    const address = accountOf(account, env);
    const value = address === undefined ? undefined : env.data(address, key);
    meter.charge(contentUnits(value));
    return ofKind(kind, value);
  };

// ── transactions ─────────────────────────────────────────────────────────────────────────────

/** Reading the transaction tells whether it has the id, and how many elements were read. */
function found(id: Uint8Array, env: Environment, meter: Meter): FoundTransaction | undefined {
  const candidate = env.lookUp(id);
  if (candidate === undefined) return undefined;
  const { charges } = env.hashes;
  meter.charge(decodedUnits(candidate.size, charges));
  const transaction = candidate.read();
  meter.charge(partUnits(transaction, charges));
  return transaction;
}

export function transactionById(id: Uint8Array, env: Environment, meter: Meter): Value {
  const transaction = found(id, env, meter);
  if (transaction === undefined) return UNIT;
  const { charges } = env.hashes;
  meter.charge(recordUnits(charges));
  const record = transaction.record();
  if (record === undefined) return UNIT;
  meter.charge(elementUnits(record));
  return record;
}

export function transactionHeight(id: Uint8Array, env: Environment, meter: Meter): Value {
  const height = found(id, env, meter)?.height;
  return height === undefined ? UNIT : BigInt(height);
}

// ── objects ──────────────────────────────────────────────────────────────────────────────────

export function fieldOf(of: Value, field: string): Value {
  const value = isObject(of) ? of.fields.get(field) : undefined;
  return value ?? fail(`field '${field}' is absent in ${kindOf(of)}`);
}

/** Missing arguments leave missing fields; further ones are dropped. */
export function construct(type: string, args: readonly Value[]): CaseObject {
  const fields = new Map<string, Value>();
  let i = 0;
  for (const name of caseTypes('account').constructors.get(type)!.fields.keys()) {
    const value = args[i++];
    if (value !== undefined) fields.set(name, value);
  }
  return { type, fields };
}

export const extract = (value: Value): Value =>
  isUnit(value) ? fail('extract() called on unit value') : value;

export const isUnit = (value: Value): boolean => isObject(value) && value.type === 'Unit';
