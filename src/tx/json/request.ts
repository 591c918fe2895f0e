/**
 * JSON requests → transactions for a set of types (rest.md#transactions, transactions.md#json).
 *
 * There is one form, that of broadcast. The bodies of sign and calculateFee are converted to it
 * first. Checks come in the order of rest.md#errors: shape, type and version, then field by field.
 */

import { equal } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json/json.ts';
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import { type ChainScheme, CodecError } from '../../codec/codec.ts';
import { integerFromJson, mismatch } from '../../codec/primitives.ts';
import { malformed, refusalOf, refusalOfAll } from '../../codec/refusal.ts';
import { shown } from '../../codec/text.ts';
import { assemble, isSigned } from '../assemble.ts';
import { type CompiledLayout, compiledLayoutOf, withAbsent } from '../compiled-layout.ts';
import { badType } from '../decoder.ts';
import { proofs as proofsCodec, signature as signatureCodec } from '../fields/proofs.ts';
import { requireSize } from '../size.ts';
import type { Fields, Tx, TxType, Values } from '../transaction.ts';

/** What an absent `version` means. */
export type DefaultVersion = 'broadcast' | 'oldest';

/**
 * A request matched to its type: the JSON in its declared spelling, and the layouts that it may
 * mean.
 */
export interface Reading {
  readonly json: JsonObject;
  /** The likeliest layout first; more than one only for type 14. */
  readonly layouts: readonly [CompiledLayout, ...CompiledLayout[]];
}

/** Finds type and version. Throws ApiError. */
export function readRequest(
  types: ReadonlyMap<number, TxType>,
  json: unknown,
  defaults: DefaultVersion,
  path = 'obj',
): Reading {
  if (!isObject(json)) throw malformed([mismatch(path, json, 'jsobject')]);
  const type = typeOf(json, path);
  const def = types.get(type);
  const version = versionOf(json, path, type, defaults);
  const layouts = def?.layouts.filter((layout) => layout.version === version);
  if (def === undefined || layouts === undefined || layouts.length === 0) {
    throw badType(type, version);
  }
  const spelled = def.normalize === undefined ? json : def.normalize(json);
  const chosen = def.candidates === undefined ? layouts : def.candidates(spelled, layouts);
  const [first, ...others] = chosen.map((layout) => compiledLayoutOf(def, layout));
  return { json: spelled, layouts: [first!, ...others] };
}

function typeOf(json: JsonObject, path: string): number {
  const { type } = json;
  if (type === undefined || type === null) {
    // Only the names: printing a whole body would cost as much as its sender chooses.
    const names = Object.keys(json).slice(0, NAMES_SHOWN).join(', ');
    throw malformed([new CodecError(path, `'type' is undefined on object: {${names}}`)]);
  }
  return smallInteger(type, `${path}.type`);
}

const NAMES_SHOWN = 20;
const FIRST_VERSIONED = 3;
const LAST_SIGNED = 10;

function versionOf(json: JsonObject, path: string, type: number, defaults: DefaultVersion): number {
  const { version, signature } = json;
  if (version !== undefined && version !== null) return smallInteger(version, `${path}.version`);
  if (defaults === 'oldest' || type < FIRST_VERSIONED || type > LAST_SIGNED) return 1;
  return signature === undefined || signature === null ? 2 : 1;
}

function smallInteger(json: unknown, path: string): number {
  try {
    return Number(integerFromJson(json, path));
  } catch (cause) {
    throw cause instanceof CodecError ? refusalOf(cause) : cause;
  }
}

/** The transaction that the request means under one layout. Throws ApiError. */
export function readTransaction(
  compiled: CompiledLayout,
  json: JsonObject,
  scheme: ChainScheme,
  path = 'obj',
  make = assemble,
): Tx {
  try {
    const values = readValues(compiled, json, scheme, path);
    const tx = make(compiled, values, readProofs(compiled, json, scheme, path), scheme);
    guardSender(tx, json, scheme);
    guardAccounts(tx, json, scheme, path);
    return tx;
  } catch (cause) {
    if (!(cause instanceof CodecError)) throw cause;
    const errors = everyError(compiled, json, scheme, path);
    attempt(errors, () => readProofs(compiled, json, scheme, path));
    throw refusalOfAll([cause, ...errors]);
  }
}

/**
 * The declared values of a request. Throws CodecError at the first wrong member, ApiError where the
 * lists are too long for any transaction, before their items are read.
 */
function readValues(
  compiled: CompiledLayout,
  json: JsonObject,
  scheme: ChainScheme,
  path = 'obj',
): Values<Fields> {
  const values: Record<string, unknown> = {};
  const { jsonNames, jsonCodecs } = compiled;
  requireRoom(compiled, json);
  for (let i = 0; i < jsonNames.length; i++) {
    const name = jsonNames[i]!;
    const codec = jsonCodecs[i]!;
    values[name] = codec.flat
      ? codec.fromJson(json, path, scheme)
      : codec.fromJson(json[name], `${path}.${name}`, scheme);
  }
  return withAbsent(compiled, values) as Values<Fields>;
}

function requireRoom({ def, jsonNames, jsonCodecs }: CompiledLayout, json: JsonObject): void {
  let least = 0;
  for (let i = 0; i < jsonNames.length; i++) {
    const { itemBytesMin } = jsonCodecs[i]!;
    if (itemBytesMin === undefined) continue;
    const list = json[jsonNames[i]!];
    if (Array.isArray(list)) least += list.length * itemBytesMin;
  }
  requireSize(def, least);
}

function readProofs(
  compiled: CompiledLayout,
  json: JsonObject,
  scheme: ChainScheme,
  path: string,
): readonly Uint8Array[] {
  const { frame } = compiled.layout;
  if (frame === 'genesis') return [];
  const { proofs, signature } = json;
  const hasSignature = signature !== undefined && signature !== null;
  if (isSigned(frame)) {
    const only = Array.isArray(proofs) && proofs.length === 1 ? proofs[0] : undefined;
    const text = hasSignature ? signature : only;
    return [signatureCodec.fromJson(text, `${path}.signature`, scheme)];
  }
  if ((proofs === undefined || proofs === null) && hasSignature) {
    return proofsCodec.fromJson([signature], `${path}.signature`, scheme);
  }
  return proofsCodec.fromJson(proofs, `${path}.proofs`, scheme);
}

/** Like `readValues`, but throws the ApiError for the request as a whole. */
export function valuesFrom(
  compiled: CompiledLayout,
  json: JsonObject,
  scheme: ChainScheme,
): Values<Fields> {
  try {
    return readValues(compiled, json, scheme);
  } catch (cause) {
    if (!(cause instanceof CodecError)) throw cause;
    throw refusalOfAll([cause, ...everyError(compiled, json, scheme, 'obj')]);
  }
}

/** Reads on after the first error, because a wrong shape anywhere comes before a broken rule. */
function everyError(
  compiled: CompiledLayout,
  json: JsonObject,
  scheme: ChainScheme,
  path: string,
): CodecError[] {
  const errors: CodecError[] = [];
  for (let i = 0; i < compiled.jsonNames.length; i++) {
    const name = compiled.jsonNames[i]!;
    const codec = compiled.jsonCodecs[i]!;
    attempt(errors, () =>
      codec.flat
        ? codec.fromJson(json, path, scheme)
        : codec.fromJson(json[name], `${path}.${name}`, scheme),
    );
  }
  return errors;
}

function attempt(errors: CodecError[], read: () => unknown): void {
  try {
    read();
  } catch (cause) {
    if (!(cause instanceof CodecError)) throw cause;
    errors.push(cause);
  }
}

function guardSender(tx: Tx, json: JsonObject, scheme: ChainScheme): void {
  const { sender } = json;
  if (typeof sender !== 'string' || tx.sender.length === 0) return;
  const actual = scheme.addressToText(tx.sender);
  if (sender === actual || sender === `address:${actual}`) return;
  throw apiError(
    'InvalidAddress',
    `sender '${shown(sender)}' is not the address of senderPublicKey`,
  );
}

/**
 * Refuses a request that names another account than the key beside it, since the name would be
 * ignored. Throws ApiError.
 */
export function guardAccounts(
  { def, fields }: Pick<Tx, 'def' | 'fields'>,
  json: JsonObject,
  scheme: ChainScheme,
  path = 'obj',
): void {
  for (const [member, key] of Object.entries(def.accounts ?? {})) {
    const named = accountNamed(json, member, scheme, path);
    if (named === undefined || equal(named, scheme.addressOf(fields[key] as Uint8Array))) continue;
    const text = scheme.addressToText(named);
    throw apiError('InvalidAddress', `${member} '${text}' is not the address of ${key}`);
  }
}

/** The address in a member that may be left out. Throws ApiError where it is something else. */
export function accountNamed(
  json: JsonObject,
  member: string,
  scheme: ChainScheme,
  path = 'obj',
): Uint8Array | undefined {
  const text = json[member];
  if (text === undefined || text === null) return undefined;
  if (typeof text !== 'string') throw malformed([mismatch(`${path}.${member}`, text, 'jsstring')]);
  return scheme.addressFromText(text);
}

/** Refuses types that clients may not submit (transactions.md#broadcasting). */
export function guardBroadcast({ def, layout }: CompiledLayout): void {
  if (def.internal !== true) return;
  const { version } = layout;
  if (def.madeByMiner === true) {
    const name = def.name.replace(/Transaction$/, '');
    throw apiError('Invalid', `${name} transaction is not allowed to be broadcasted`);
  }
  throw badType(def.type, version);
}

/** Refuses types that the keystore does not sign (transactions.md#signing). */
export function guardSign({ def }: CompiledLayout): void {
  if (def.internal === true || def.signable === false)
    throw apiError('Invalid', 'UnsupportedTransactionType');
}

/** Stands for proofs that do not exist yet; the size of a body does not depend on them. */
export function placeholderProofs(compiled: CompiledLayout): readonly Uint8Array[] {
  return isSigned(compiled.layout.frame) ? [new Uint8Array(SIGNATURE_BYTES)] : [];
}
