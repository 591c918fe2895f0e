/**
 * The kinds of path and query parameters, each with its check, its error and its JSON Schema
 * (rest.md#parameters). A parameter is text that was percent-decoded once.
 *
 * Invariant: the error that a kind throws is the documented answer. Only `BadNumber` is collected,
 * because an answer lists every bad number of the request.
 */
import { base58 } from '../base/base58.ts';
import { type ApiError, apiError } from '../base/errors.ts';
import { ExpectedError } from '../base/faults/expected-error.ts';
import { I32_MAX, I64_MAX } from '../base/int.ts';
import type { ChainScheme, JsonSchema } from '../codec/codec.ts';

export interface Param<T> {
  readonly doc: string;
  readonly schema: JsonSchema;
  /** True where an absent query parameter is no error. */
  readonly optional?: boolean;
  /** Throws ApiError or BadNumber. */
  parse(text: string, scheme: ChainScheme): T;
  /** The value of an absent parameter, where it is optional. */
  readonly otherwise?: T;
}

export type Params = Readonly<Record<string, Param<unknown>>>;
export type ParamValues<P extends Params> = {
  readonly [K in keyof P]: P[K] extends Param<infer T> ? T : never;
};

/** A text that is no number, or a number outside its range; `message` is a line of the answer. */
export class BadNumber extends ExpectedError {
  override name = 'BadNumber';
}

/** An address in both forms; `text` is the canonical form, without prefix. */
export interface Address {
  readonly bytes: Uint8Array;
  readonly text: string;
}

const SIGNATURE_CHARS = 88;
/** A longer text cannot be an id in a path. */
const MAX_BASE58_CHARS = 128;
const INTEGER = /^[+-]?\d{1,40}$/;

/** The bytes, or undefined where the text is not Base58 or far too long. */
export function fromBase58(text: string, maxChars = MAX_BASE58_CHARS): Uint8Array | undefined {
  if (text.length > maxChars) return undefined;
  try {
    return base58.decode(text, maxChars);
  } catch {
    return undefined;
  }
}

export function readAddress(text: string, scheme: ChainScheme): Address {
  const bare = text.startsWith('address:') ? text.slice(8) : text;
  return { bytes: scheme.addressFromText(bare), text: bare };
}

const MAX_KEY_CHARS = 88;

export function readPublicKey(text: string, scheme: ChainScheme): Uint8Array {
  const invalid = (reason: string): ApiError =>
    apiError('InvalidPublicKey', `Can't create public key from string '${text}': ${reason}`);
  if (text.length > MAX_KEY_CHARS) throw invalid(`length ${text.length} is over the maximum`);
  const bytes = fromBase58(text);
  if (bytes === undefined) throw invalid('it is not Base58');
  if (bytes.length !== scheme.publicKeySize) {
    throw invalid(`expected ${scheme.publicKeySize} bytes, got ${bytes.length}`);
  }
  return bytes;
}

function parseInteger(text: string, kind: 'Integer' | 'Long', max: bigint): bigint {
  const value = INTEGER.test(text) ? BigInt(text.replace('+', '')) : undefined;
  if (value === undefined || value > max || value < -max - 1n) {
    throw new BadNumber(`Unable to parse ${kind} from '${text.slice(0, 100)}'`);
  }
  return value;
}

function int32(doc: string, least: 0 | 1): Param<number> {
  return {
    doc,
    schema: { type: 'integer', format: 'int32', minimum: least, maximum: I32_MAX },
    parse(text) {
      const value = Number(parseInteger(text, 'Integer', BigInt(I32_MAX)));
      if (value < least) throw new BadNumber(`'${value}' must be ${sign(least)}`);
      return value;
    },
  };
}

const sign = (least: number): string => (least === 1 ? 'positive' : 'non-negative');

export const positive = (doc: string): Param<number> => int32(doc, 1);
export const nonNegative = (doc: string): Param<number> => int32(doc, 0);

/** A positive 64-bit number. */
const positiveLong = (doc: string): Param<bigint> => ({
  doc,
  schema: { type: 'integer', format: 'int64', minimum: 1 },
  parse(text) {
    const value = parseInteger(text, 'Long', I64_MAX);
    if (value < 1n) throw new BadNumber(`'${value}' must be positive`);
    return value;
  },
});

export const height = positive('Height of a block; the genesis block has 1.');
export const timestamp = positiveLong('Milliseconds since 1970-01-01 UTC.');

/**
 * A time at which the state can be read. A time above 2^53 ms gives the same result as 2^53, and a
 * time before 1970 the same as 1970.
 */
export const timeOf = (timestamp: bigint | number): number =>
  Math.min(Math.max(0, Number(timestamp)), Number.MAX_SAFE_INTEGER);

export const address: Param<Address> = {
  doc: 'An address of this network, with or without the prefix `address:`.',
  schema: { type: 'string', maxLength: 44 },
  parse: readAddress,
};

export const publicKey: Param<Uint8Array> = {
  doc: 'A public key in Base58.',
  schema: { type: 'string', maxLength: MAX_KEY_CHARS },
  parse: readPublicKey,
};

/** Any text. */
export const text = (doc: string): Param<string> => ({
  doc,
  schema: { type: 'string' },
  parse: (value) => value,
});

/** Bytes in Base58; `error` makes the documented refusal. */
export const bytes58 = (
  doc: string,
  error: (text: string) => ApiError,
  maxChars = MAX_BASE58_CHARS,
): Param<Uint8Array> => ({
  doc,
  schema: { type: 'string', maxLength: maxChars },
  parse(value) {
    const bytes = value === '' ? undefined : fromBase58(value, maxChars);
    if (bytes === undefined) throw error(value.slice(0, 200));
    return bytes;
  },
});

export const transactionId = bytes58('Id of a transaction in Base58.', () =>
  apiError('InvalidSignature'),
);
/** The same in both forms. */
export const shownTransactionId: Param<{ readonly bytes: Uint8Array; readonly text: string }> = {
  doc: transactionId.doc,
  schema: transactionId.schema,
  parse: (text, scheme) => ({ bytes: transactionId.parse(text, scheme), text }),
};
export const blockSignature = bytes58(
  'Signature of a block in Base58.',
  () => apiError('InvalidSignature'),
  SIGNATURE_CHARS,
);
export const executableId = bytes58('Id of a contract transaction in Base58.', (value) =>
  apiError('Invalid', `Failed to decode base58 transaction id value '${value}'`),
);
export const contractId = bytes58('Id of a contract in Base58.', (value) =>
  apiError('ContractNotFound', value),
);
export const policyId = bytes58('Id of a policy in Base58.', (value) =>
  apiError('Invalid', `Failed to decode policyId: '${value}'`),
);

/** A query parameter that may be left out. */
export const optional = <T, D>(param: Param<T>, otherwise: D): Param<T | D> => ({
  ...param,
  optional: true,
  otherwise,
});

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'on', '1'].map((text) => [text, true] as const),
  ...['false', 'no', 'off', '0'].map((text) => [text, false] as const),
]);

/** As clients of the family write it, in any case. Another text is refused, for it may mean either. */
export const flag = (doc: string): Param<boolean> => ({
  doc,
  schema: { type: 'boolean' },
  parse(text) {
    const value = FLAGS.get(text.toLowerCase());
    if (value !== undefined) return value;
    const shown = text.slice(0, 100);
    throw apiError('Invalid', `Invalid parameter: Unable to parse Boolean from '${shown}'`);
  },
});
