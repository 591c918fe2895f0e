/**
 * The built-in functions, one line each (docs/protocol/scripts.md#functions): header, name,
 * parameters, result, cost, charge, semantics. The compiler, the estimator, the evaluator, the reader and
 * the documentation take them from here.
 *
 * The number is the header of a native function. A user function has its name as the header; the
 * reference defined these by trees, which explains their costs.
 */
import type { Charge } from '../../base/charge.ts';
import { caseTypes } from '../language/case-types.ts';
import type { Header } from '../language/tree.ts';
import {
  BOOLEAN,
  BYTES,
  INT,
  NOTHING,
  STRING,
  type Type,
  UNIT_TYPE,
  union,
} from '../language/types.ts';
import { type CaseObject, kindOf, UNIT, type Value } from '../language/values.ts';
import {
  byArgument,
  byHash,
  byResult,
  bySignature,
  type CallCharge,
  flat,
  ofAccount,
  ofAddressText,
  ofPairs,
  ofRow,
  ofTransaction,
} from './charges.ts';
import type { Environment } from './environment.ts';
import { same } from './equality.ts';
import type { Meter } from './meter.ts';
import * as op from './operations.ts';

/** `T` in a signature: any type, the same in all places. */
export type TypeParameter =
  | { readonly kind: 'T' }
  | { readonly kind: 'LIST(T)' }
  | { readonly kind: 'T|Unit' };
export type Parameter = Type | TypeParameter;
/** The type of every transaction depends on the context of the script. */
export type Result = Type | TypeParameter | 'AnyTransaction|Unit';

export interface Builtin {
  readonly header: Header;
  /** The name in sources; overloads share it. */
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly result: Result;
  /** What the estimate of complexity counts. */
  readonly cost: number;
  /** What a run pays. */
  readonly charge: CallCharge;
  /** Takes the arguments, and after them the environment and the meter. */
  readonly run: (...args: never[]) => Value;
  /** True where an argument of another type is no failure. */
  readonly unguarded?: true;
}

type Run = Builtin['run'];

const native = (
  header: Header,
  name: string,
  parameters: readonly Parameter[],
  result: Result,
  cost: number,
  charge: CallCharge,
  run: Run,
): Builtin => ({ header, name, parameters, result, cost, charge, run });

/** The header is the name, except where an overload has a name of its own in binaries. */
const user = (
  name: string,
  parameters: readonly Parameter[],
  result: Result,
  cost: number,
  charge: CallCharge,
  run: Run,
  header = name,
): Builtin => ({ header, name, parameters, result, cost, charge, run });

const T: TypeParameter = { kind: 'T' };
const LIST_T: TypeParameter = { kind: 'LIST(T)' };
const OPTIONAL_T: TypeParameter = { kind: 'T|Unit' };
const { addressOrAlias: ACCOUNT, address: ADDRESS, entries: ENTRIES } = caseTypes('account');
const ANY_BYTES = union(UNIT_TYPE, BYTES);
const maybe = (type: Type): Type => union(type, UNIT_TYPE);

type Env = Environment;

/** The call of a constructor, by the number of its arguments. */
export const CONSTRUCTOR_CHARGE: Charge = { fixed: 4, per: 2, each: 1 };

// biome-ignore format: a table
export const builtins: readonly Builtin[] = [
  native(0, '==', [T, T], BOOLEAN, 1, ofPairs, (a: Value, b: Value, _env: Env, meter: Meter) => same(a, b, meter)),
  native(1, '_isInstanceOf', [T, STRING], BOOLEAN, 1, flat(2), (a: Value, kind: string) => kindOf(a) === kind),
  native(2, 'throw', [STRING], NOTHING, 1, flat(0), op.fail),
  native(100, '+', [INT, INT], INT, 1, flat(3), (a: bigint, b: bigint) => op.checked(a + b)),
  native(101, '-', [INT, INT], INT, 1, flat(3), (a: bigint, b: bigint) => op.checked(a - b)),
  native(102, '>', [INT, INT], BOOLEAN, 1, flat(2), (a: bigint, b: bigint) => a > b),
  native(103, '>=', [INT, INT], BOOLEAN, 1, flat(2), (a: bigint, b: bigint) => a >= b),
  native(104, '*', [INT, INT], INT, 1, flat(3), (a: bigint, b: bigint) => op.checked(a * b)),
  native(105, '/', [INT, INT], INT, 1, flat(6), op.divide),
  native(106, '%', [INT, INT], INT, 1, flat(6), op.modulo),
  native(107, 'fraction', [INT, INT, INT], INT, 1, flat(20), op.fraction),
  native(200, 'size', [BYTES], INT, 1, flat(3), (a: Uint8Array) => BigInt(a.length)),
  native(201, 'take', [BYTES, INT], BYTES, 1, byResult(4, 1, 64), op.take<Uint8Array>),
  native(202, 'drop', [BYTES, INT], BYTES, 1, byResult(4, 1, 64), op.drop<Uint8Array>),
  native(203, '+', [BYTES, BYTES], BYTES, 10, byResult(4, 1, 64), op.joinBytes),
  native(300, '+', [STRING, STRING], STRING, 10, byResult(4, 1, 64), op.joinTexts),
  native(303, 'take', [STRING, INT], STRING, 1, byResult(4, 1, 64), op.take<string>),
  native(304, 'drop', [STRING, INT], STRING, 1, byResult(4, 1, 64), op.drop<string>),
  native(305, 'size', [STRING], INT, 1, flat(3), (a: string) => BigInt(a.length)),
  native(400, 'size', [LIST_T], INT, 2, flat(3), (a: readonly Value[]) => BigInt(a.length)),
  native(401, 'getElement', [LIST_T, INT], T, 2, flat(4), op.elementOf),
  native(410, 'toBytes', [INT], BYTES, 1, flat(8), op.longBytes),
  native(411, 'toBytes', [STRING], BYTES, 1, byArgument(8, 1, 8), op.textBytes),
  native(412, 'toBytes', [BOOLEAN], BYTES, 1, flat(6), (a: boolean) => Uint8Array.of(a ? 1 : 0)),
  native(420, 'toString', [INT], STRING, 1, flat(8), String),
  native(421, 'toString', [BOOLEAN], STRING, 1, flat(3), String),
  native(500, 'sigVerify', [BYTES, BYTES, BYTES], BOOLEAN, 100, bySignature, (m: Uint8Array, s: Uint8Array, k: Uint8Array, env: Env) => env.verify(m, s, k)),
  native(501, 'keccak256', [BYTES], BYTES, 10, byArgument(20, 12, 128), (a: Uint8Array, env: Env) => env.hashes.keccak256(a)),
  native(502, 'blake2b256', [BYTES], BYTES, 10, byArgument(20, 4, 128), (a: Uint8Array, env: Env) => env.hashes.blake2b256(a)),
  native(503, 'sha256', [BYTES], BYTES, 10, byArgument(40, 3, 128), (a: Uint8Array, env: Env) => env.hashes.sha256(a)),
  native(504, 'secureHash', [BYTES], BYTES, 10, byHash(), (a: Uint8Array, env: Env) => env.hashes.secureHash(a)),
  native(600, 'toBase58String', [BYTES], STRING, 10, byArgument(12, 1, 2), op.toBase58),
  native(601, 'fromBase58String', [STRING], BYTES, 10, byArgument(12, 1, 2), op.fromBase58),
  native(602, 'toBase64String', [BYTES], STRING, 10, byArgument(16, 1, 64), op.toBase64),
  native(603, 'fromBase64String', [STRING], BYTES, 10, byArgument(16, 1, 16), op.fromBase64),
  native(1000, 'transactionById', [BYTES], 'AnyTransaction|Unit', 100, ofTransaction, op.transactionById),
  native(1001, 'transactionHeightById', [BYTES], maybe(INT), 100, ofTransaction, op.transactionHeight),
  native(1003, 'assetBalance', [ACCOUNT, ANY_BYTES], INT, 100, ofAccount(1), op.balance),
  native(1040, 'getInteger', [ENTRIES, STRING], maybe(INT), 10, byArgument(4, 2, 1), op.entryByKey('Int')),
  native(1041, 'getBoolean', [ENTRIES, STRING], maybe(BOOLEAN), 10, byArgument(4, 2, 1), op.entryByKey('Boolean')),
  native(1042, 'getBinary', [ENTRIES, STRING], maybe(BYTES), 10, byArgument(4, 2, 1), op.entryByKey('ByteVector')),
  native(1043, 'getString', [ENTRIES, STRING], maybe(STRING), 10, byArgument(4, 2, 1), op.entryByKey('String')),
  native(1050, 'getInteger', [ACCOUNT, STRING], maybe(INT), 100, ofRow, op.entryOfAccount('Int')),
  native(1051, 'getBoolean', [ACCOUNT, STRING], maybe(BOOLEAN), 100, ofRow, op.entryOfAccount('Boolean')),
  native(1052, 'getBinary', [ACCOUNT, STRING], maybe(BYTES), 100, ofRow, op.entryOfAccount('ByteVector')),
  native(1053, 'getString', [ACCOUNT, STRING], maybe(STRING), 100, ofRow, op.entryOfAccount('String')),
  native(1060, 'addressFromRecipient', [ACCOUNT], ADDRESS, 100, ofAccount(0), op.addressFromRecipient),
  user('!=', [T, T], BOOLEAN, 26, ofPairs, (a: Value, b: Value, _env: Env, meter: Meter) => !same(a, b, meter)),
  // A value that is no Boolean is not equal to false either; only a binary can hold such a call.
  { ...user('!', [BOOLEAN], BOOLEAN, 11, flat(2), (a: Value) => a === false), unguarded: true },
  user('-', [INT], INT, 9, flat(3), (a: bigint) => op.checked(-a)),
  user('isDefined', [OPTIONAL_T], BOOLEAN, 35, flat(2), (a: Value) => !op.isUnit(a)),
  user('extract', [OPTIONAL_T], T, 13, flat(2), op.extract),
  user('throw', [], NOTHING, 2, flat(0), () => op.fail('Explicit script termination')),
  user('takeRight', [BYTES, INT], BYTES, 19, byResult(6, 1, 64), op.takeRight<Uint8Array>, 'takeRightBytes'),
  user('dropRight', [BYTES, INT], BYTES, 19, byResult(6, 1, 64), op.dropRight<Uint8Array>, 'dropRightBytes'),
  user('takeRight', [STRING, INT], STRING, 19, byResult(6, 1, 64), op.takeRight<string>),
  user('dropRight', [STRING, INT], STRING, 19, byResult(6, 1, 64), op.dropRight<string>),
  user('getInteger', [ENTRIES, INT], maybe(INT), 30, flat(6), op.entryByIndex('Int')),
  user('getBoolean', [ENTRIES, INT], maybe(BOOLEAN), 30, flat(6), op.entryByIndex('Boolean')),
  user('getBinary', [ENTRIES, INT], maybe(BYTES), 30, flat(6), op.entryByIndex('ByteVector')),
  user('getString', [ENTRIES, INT], maybe(STRING), 30, flat(6), op.entryByIndex('String')),
  user('addressFromPublicKey', [BYTES], ADDRESS, 62, byHash('address'), op.addressFromPublicKey),
  user('addressFromString', [STRING], maybe(ADDRESS), 114, ofAddressText, op.addressFromString),
  user('wavesBalance', [ACCOUNT], INT, 109, ofAccount(1), (account: CaseObject, env: Env) => op.balance(account, UNIT, env)),
];

const byHeader = new Map(builtins.map((builtin) => [builtin.header, builtin]));

const byName = Map.groupBy(builtins, ({ name }) => name);

export const builtinOf = (header: Header): Builtin | undefined => byHeader.get(header);

/** The overloads of a name in sources. */
export const overloadsOf = (name: string): readonly Builtin[] => byName.get(name) ?? [];

/** What a call of the header costs besides its arguments; undefined for an unknown one. */
export function costOf(header: Header): number | undefined {
  const builtin = byHeader.get(header);
  if (builtin !== undefined) return builtin.cost;
  if (typeof header === 'number') return undefined;
  return caseTypes('account').constructors.get(header)?.fields.size;
}
