/**
 * The JSON side of all types: answers, and the bodies of broadcast, sign and calculateFee
 * (rest.md#transactions, transactions.md#json).
 */
import { apiError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json/json.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { mismatch } from '../../codec/primitives.ts';
import { malformed } from '../../codec/refusal.ts';
import { base58 } from '../../codec/text.ts';
import { assemble, messageOf } from '../assemble.ts';
import type { CompiledLayout } from '../compiled-layout.ts';
import { types } from '../registry.ts';
import type { Fields, Layout, Tx, TxType, Values } from '../transaction.ts';
import {
  accountNamed,
  guardAccounts,
  guardBroadcast,
  guardSign,
  placeholderProofs,
  type Reading,
  readRequest,
  readTransaction,
  valuesFrom,
} from './request.ts';

export { txToJson } from './described.ts';

/** Any signed transaction, internal types included. Throws ApiError. */
export function txFromJson(json: unknown, scheme: ChainScheme): Tx {
  const reading = readRequest(types, json, 'broadcast');
  return readTransaction(reading.layouts[0], reading.json, scheme);
}

/**
 * The transactions that a broadcast body may mean: one, or two for a type 14 with both of its
 * fields. The caller takes the one whose first proof verifies, or the first one if none does.
 * Throws ApiError, also for types that clients may not submit.
 */
export function broadcastFromJson(json: unknown, scheme: ChainScheme): readonly [Tx, ...Tx[]] {
  const reading = readRequest(types, json, 'broadcast');
  guardBroadcast(reading.layouts[0]);
  return candidates(reading, scheme);
}

function candidates({ json, layouts }: Reading, scheme: ChainScheme): readonly [Tx, ...Tx[]] {
  const [first, ...others] = layouts;
  return [
    readTransaction(first, json, scheme),
    ...others.map((compiled) => readTransaction(compiled, json, scheme)),
  ];
}

/** The transaction of a calculateFee body; it has no proofs, and may lack fee and time. */
export function forFeeFromJson(json: unknown, scheme: ChainScheme): Tx {
  const reading = readRequest(types, json, 'oldest');
  const compiled = reading.layouts[0];
  const { timestamp } = reading.json;
  const full = { ...reading.json, fee: 0, timestamp: timestamp ?? 0 };
  const tx = unproven(compiled, valuesFrom(compiled, full, scheme), scheme);
  guardAccounts(tx, withoutUnnamedKeys(json as JsonObject, tx, scheme), scheme);
  return tx;
}

/**
 * The request without the accounts whose keys it leaves out: a fee does not depend on them, and
 * only a keystore could tell their keys. Throws ApiError where one of them is no address.
 */
function withoutUnnamedKeys(json: JsonObject, { def }: Tx, scheme: ChainScheme): JsonObject {
  const kept = { ...json };
  for (const [member, key] of Object.entries(def.accounts ?? {})) {
    const named = accountNamed(json, member, scheme);
    if (named !== undefined && (json[key] ?? null) === null) kept[member] = null;
  }
  return kept;
}

/** Values that a sign request leaves to the node. */
export interface SignDefaults {
  /** The key of an account in the keystore; undefined where the keystore does not hold it. */
  publicKeyOf(address: Uint8Array): Uint8Array | undefined;
  readonly timestamp: number;
  /** The fee for a request without one. */
  feeOf(tx: Tx): bigint;
  /**
   * The current version of a contract, for calls without a version; 1 where the contract is
   * unknown.
   */
  contractVersionOf?(contractId: Uint8Array): number | undefined;
  /** Throws ApiError where the state refuses whom the request names. */
  guardNamed?(tx: Tx): void;
}

/** A transaction without proofs. */
export interface Draft {
  readonly def: TxType;
  readonly layout: Layout;
  readonly fields: Values<Fields>;
  readonly sender: Uint8Array;
  readonly senderPublicKey: Uint8Array;
  /** Address of the account that signs: the author of a type 12, else the sender. */
  readonly signer: Uint8Array;
  /** The bytes to sign. */
  readonly message: Uint8Array;
  assemble(proofs: readonly Uint8Array[]): Tx;
}

/**
 * The transaction of a sign body. Throws ApiError; a wrong field is reported before an unknown key.
 */
export function unsignedFromJson(
  json: unknown,
  scheme: ChainScheme,
  defaults: SignDefaults,
): Draft {
  const reading = readRequest(types, withoutKey(json), 'oldest');
  const compiled = reading.layouts[0];
  guardSign(compiled);
  const sender = accountOf(reading.json, 'sender', scheme);
  const request: JsonObject = {
    ...reading.json,
    timestamp: reading.json['timestamp'] ?? defaults.timestamp,
    fee: reading.json['fee'] ?? 0,
  };
  const stranger = new Uint8Array(scheme.publicKeySize);
  const shape = valuesFrom(compiled, withKeys(compiled, request, stranger), scheme);
  const { contractId } = shape;
  if (contractId instanceof Uint8Array) {
    request['contractVersion'] ??= defaults.contractVersionOf?.(contractId);
  }

  const keyOf = (address: Uint8Array): Uint8Array => {
    const key = defaults.publicKeyOf(address);
    if (key === undefined) throw apiError('MissingSenderPrivateKey');
    return key;
  };
  const senderPublicKey = keyOf(sender);
  const author = authorOf(compiled, request, shape, scheme);
  const authorPublicKey = author === undefined ? undefined : keyOf(author);
  let fields = valuesFrom(
    compiled,
    withKeys(compiled, request, senderPublicKey, authorPublicKey),
    scheme,
  );
  const priced = unproven(compiled, fields, scheme);
  guardAccounts(priced, request, scheme);
  defaults.guardNamed?.(priced);
  if (reading.json['fee'] === undefined || reading.json['fee'] === null) {
    fields = { ...fields, fee: defaults.feeOf(priced) };
  }
  return {
    def: compiled.def,
    layout: compiled.layout,
    fields,
    sender: priced.sender,
    senderPublicKey,
    signer: author ?? priced.sender,
    message: messageOf(compiled, fields, scheme),
    assemble: (proofs) => assemble(compiled, fields, proofs, scheme),
  };
}

/** Without the key of the sender, which the keystore knows: a type 12 would take it for its author. */
function withoutKey(json: unknown): unknown {
  if (!isObject(json)) return json;
  const { senderPublicKey: _key, ...others } = json;
  return others;
}

/**
 * The account that a type 12 names as its author, by address, by key or by both; undefined where it
 * names none. Throws ApiError where the two are of different accounts.
 */
function authorOf(
  { def }: CompiledLayout,
  request: JsonObject,
  shape: Values<Fields>,
  scheme: ChainScheme,
): Uint8Array | undefined {
  if (def.fields['authorPublicKey'] === undefined) return undefined;
  if ((request['authorPublicKey'] ?? null) === null) return accountNamed(request, 'author', scheme);
  guardAccounts({ def, fields: shape }, request, scheme);
  return scheme.addressOf(shape['authorPublicKey'] as Uint8Array);
}

/** The request in the form of a broadcast body, with its keys filled in. */
function withKeys(
  { def }: CompiledLayout,
  request: JsonObject,
  sender: Uint8Array,
  author?: Uint8Array,
): JsonObject {
  const filled: JsonObject = { ...request, senderPublicKey: base58.encode(sender) };
  if (author !== undefined) filled['authorPublicKey'] = base58.encode(author);
  return def.normalize === undefined ? filled : def.normalize(filled);
}

function accountOf(json: JsonObject, name: string, scheme: ChainScheme): Uint8Array {
  const path = `obj.${name}`;
  const text = json[name];
  if (typeof text !== 'string') throw malformed([mismatch(path, text, 'jsstring')]);
  return scheme.addressFromText(text);
}

function unproven(compiled: CompiledLayout, fields: Values<Fields>, scheme: ChainScheme): Tx {
  return assemble(compiled, fields, placeholderProofs(compiled), scheme);
}
