/**
 * Fields that several types share, with the limits of transactions.md#limits-of-fields and the
 * error codes of rest.md#parameters and transactions.md#json. One codec applies one rule to bytes
 * from a peer and to JSON from a client.
 */

import { apiError, type Refusal } from '../../base/errors.ts';
import { ADDRESS_BYTES, ID_BYTES } from '../../base/sizes.ts';
import { type ChainScheme, type Codec, CodecError } from '../../codec/codec.ts';
import {
  bytes,
  bytes16,
  check,
  i64,
  L2_MAX,
  millis,
  mismatch,
  u8,
} from '../../codec/primitives.ts';
import { nullable, option, since, withDefault } from '../../codec/struct.ts';
import { base58, base64, shown } from '../../codec/text.ts';

const ATTACHMENT_BYTES_MAX = 140;

const key32 = bytes(32, base58);

/** Raw key of the network's crypto family: 32 or 64 bytes; code 108. */
export const publicKey: Codec<Uint8Array> = {
  write: (out, v) => out.bytes(v),
  read: (src) => src.bytes(src.scheme.publicKeySize),
  toJson: key32.toJson,
  print: (src) => `"${base58.encode(src.bytes(src.scheme.publicKeySize))}"`,
  fromJson(json, path, scheme) {
    if (typeof json !== 'string') throw mismatch(path, json, 'jsstring');
    return keyFromText(json, path, scheme);
  },
  schema: { type: 'string', format: 'base58', description: 'public key' },
};

function keyFromText(text: string, path: string, scheme: ChainScheme): Uint8Array {
  const size = scheme.publicKeySize;
  let reason = `expected ${size} bytes`;
  try {
    const key = base58.decode(text, size);
    if (key.length === size) return key;
  } catch (cause) {
    reason = (cause as Error).message;
  }
  const api = apiError(
    'InvalidPublicKey',
    `Can't create public key from string '${shown(text)}': ${reason}`,
  );
  throw new CodecError(path, api.message, api);
}

export const senderPublicKey = publicKey;

/** The 26 bytes of an account of this network; code 102. */
export const address: Codec<Uint8Array> = {
  write: (out, v) => out.bytes(v),
  read(src) {
    const raw = src.bytes(ADDRESS_BYTES);
    const problem = src.scheme.addressProblem(raw);
    if (problem === undefined) return raw;
    throw new CodecError('bytes', problem, apiError('InvalidAddress', problem));
  },
  toJson: (v, scheme) => scheme.addressToText(v),
  print: (src) => `"${src.scheme.addressToText(src.bytes(ADDRESS_BYTES))}"`,
  fromJson(json, path, scheme) {
    if (typeof json !== 'string') throw mismatch(path, json, 'jsstring');
    return addressFromText(json, path, scheme);
  },
  schema: { type: 'string', description: 'address' },
};

/** Reads the text of an address; a refusal also names its place in the JSON. */
export function addressFromText(text: string, path: string, scheme: ChainScheme): Uint8Array {
  try {
    return scheme.addressFromText(text);
  } catch (cause) {
    const api = cause as Refusal;
    throw new CodecError(path, api.message, api);
  }
}

/** Id of an asset, which is the id of its issue transaction. */
export const assetId: Codec<Uint8Array> = bytes(ID_BYTES, base58, (reason, text) =>
  apiError('InvalidAssetId', `Asset id '${shown(text)}' is invalid: ${reason}`),
);

const someAsset = option(assetId);

/** 00 or 01 ‖ id; null, "" and a missing member mean the native token. */
export const optionalAssetId: Codec<Uint8Array | undefined> = {
  ...someAsset,
  fromJson: (json, path, scheme) =>
    json === '' ? undefined : someAsset.fromJson(json, path, scheme),
  schema: nullable({ ...assetId.schema, description: 'asset; null or "": the native token' }),
};

/** Asset that pays the fee; only some versions have it. */
export const feeAssetId = since(optionalAssetId);

/** Id of a lease transaction; `txId` is another name of the member in requests. */
export const leaseId: Codec<Uint8Array> = bytes(ID_BYTES, base58, (reason) =>
  apiError('Invalid', `Lease transaction id is invalid: ${reason}`),
);

export const timestamp: Codec<number> = millis;

/** Never negative; zero is legal where the minimum is zero (decision 24). */
export const fee: Codec<bigint> = check(
  i64,
  (value) => (value < 0n ? apiError('Invalid', 'InsufficientFee(insufficient fee)') : undefined),
  { minimum: 0 },
);

/** An amount above zero; `of` names the token in the refusal, code 111. */
export function positive(of: string | Native): Codec<bigint> {
  return bounded(1n, of);
}

/** An amount of zero or more, code 111. */
export function notNegative(of: string | Native): Codec<bigint> {
  return bounded(0n, of);
}

/** The native token, whose name differs between networks. */
export const NATIVE = Symbol('native token');
type Native = typeof NATIVE;

const bounded = (least: bigint, of: string | Native): Codec<bigint> =>
  check(
    i64,
    (value, { nativeToken }) =>
      value >= least
        ? undefined
        : apiError('NegativeAmount', value, of === NATIVE ? nativeToken : of),
    { minimum: Number(least) },
  );

/** A note to the recipient, at most 140 bytes; "" where there is none. */
export const attachment: Codec<Uint8Array> = withDefault(
  bytes16(ATTACHMENT_BYTES_MAX, base58, (reason) => apiError('TooBigSequence', reason)),
  new Uint8Array(0),
);

const scriptBytes = bytes16(L2_MAX, base64);
const someScript = check(option(scriptBytes), (value) =>
  value === undefined || value[0] === 1 || value[0] === 2
    ? undefined
    : apiError('Invalid', `Bad script version '${value[0] ?? ''}'`),
);

/** A compiled script of version 1 or 2, or none; an empty text means none. */
export const script: Codec<Uint8Array | undefined> = {
  ...someScript,
  fromJson: (json, path, scheme) =>
    someScript.fromJson(json === '' || json === 'base64:' ? null : json, path, scheme),
  schema: nullable(base64.schema),
};

/** ASCII code of the network; a request may leave it out. */
export const chainId: Codec<number | undefined> = {
  absent: undefined,
  optional: true,
  write: (out, v) => out.u8(v ?? out.scheme.chainId),
  read: (src) => ownChain(src.u8(), 'bytes', src.scheme),
  toJson: (v) => v,
  fromJson: (json, path, scheme) =>
    json === undefined || json === null
      ? scheme.chainId
      : ownChain(u8.fromJson(json, path, scheme), path, scheme),
  schema: { ...u8.schema, description: 'ASCII code of the network; default: the node’s' },
};

function ownChain(actual: number, path: string, scheme: ChainScheme): number {
  if (actual === scheme.chainId) return actual;
  const api = apiError('Invalid', `Wrong chainId actual: ${actual}, expected: ${scheme.chainId}`);
  throw new CodecError(path, api.message, api);
}
