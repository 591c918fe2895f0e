/**
 * Orders of an exchange (transactions.md#proof-style, state.md#exchange).
 *
 *   body       [02 in version 2] | senderPublicKey 32 | matcherPublicKey 32 | amountAsset 1 or 33
 *              | priceAsset 1 or 33 | side 1 (0 buy, 1 sell) | price 8 | amount 8 | timestamp 8
 *              | expiration 8 | matcherFee 8
 *   version 1  body | signature 64
 *   version 2  body | proofs
 *
 * The id is the hash of the body. The signature is over the body too.
 */

import { apiError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json/json.ts';
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import { type ChainScheme, type Codec, CodecError, type Reader } from '../../codec/codec.ts';
import { i64, mismatch } from '../../codec/primitives.ts';
import { scratch } from '../../codec/scratch.ts';
import { struct } from '../../codec/struct.ts';
import { base58, shown } from '../../codec/text.ts';
import { proofs as proofsCodec, signature } from './proofs.ts';
import { optionalAssetId, publicKey, timestamp } from './shared.ts';

export type Side = 'buy' | 'sell';

const side: Codec<Side> = {
  write: (out, value) => out.u8(value === 'buy' ? 0 : 1),
  read(src) {
    const byte = src.u8();
    if (byte > 1) throw new CodecError('bytes', `${byte} is no order type`);
    return byte === 0 ? 'buy' : 'sell';
  },
  toJson: (value) => value,
  fromJson(json, path) {
    if (typeof json !== 'string') throw mismatch(path, json, 'jsstring');
    if (json === 'buy' || json === 'sell') return json;
    throw new CodecError(
      path,
      'unknown order type',
      apiError('Invalid', `Bad order type ${shown(json)}`),
    );
  },
  schema: { enum: ['buy', 'sell'] },
};

const body = struct({
  senderPublicKey: publicKey,
  matcherPublicKey: publicKey,
  amountAsset: optionalAssetId,
  priceAsset: optionalAssetId,
  orderType: side,
  price: i64,
  amount: i64,
  timestamp,
  expiration: timestamp,
  matcherFee: i64,
});

type Body = ReturnType<typeof body.read>;

export interface Order extends Body {
  readonly version: 1 | 2;
  readonly id: Uint8Array;
  /** The signed bytes. */
  readonly body: Uint8Array;
  readonly bytes: Uint8Array;
  /** One signature in version 1. */
  readonly proofs: readonly Uint8Array[];
}

/**
 * Reads an order of a known version; the bytes are a view. The caller has looked at the first byte
 * of version 2, which is part of the body.
 */
export function readOrder(src: Reader, version: 1 | 2): Order {
  const start = src.position;
  if (version === 2) src.u8();
  const values = body.read(src);
  const signed = src.since(start);
  const proofs = version === 1 ? [src.bytes(SIGNATURE_BYTES)] : proofsCodec.read(src);
  const id = src.scheme.fastHash(signed);
  return { ...values, version, id, body: signed, bytes: src.since(start), proofs };
}

function buildOrder(
  version: 1 | 2,
  values: Body,
  proofs: readonly Uint8Array[],
  scheme: ChainScheme,
): Order {
  const out = scratch(scheme);
  if (version === 2) out.u8(2);
  body.write(out, values);
  const length = out.position;
  if (version === 1) out.bytes(proofs[0]!);
  else proofsCodec.write(out, proofs);
  const bytes = out.take();
  const signed = bytes.subarray(0, length);
  return { ...values, version, id: scheme.fastHash(signed), body: signed, bytes, proofs };
}

export function orderToJson(order: Order, scheme: ChainScheme): JsonObject {
  const json = body.toJson(order, scheme) as JsonObject;
  const { amountAsset, priceAsset, senderPublicKey, ...others } = json;
  const proofs = order.proofs.map((proof) => base58.encode(proof));
  return {
    version: order.version,
    id: base58.encode(order.id),
    sender: scheme.addressToText(scheme.addressOf(order.senderPublicKey)),
    senderPublicKey,
    ...others,
    assetPair: { amountAsset, priceAsset },
    signature: proofs[0] ?? '',
    proofs,
  };
}

export function orderFromJson(json: unknown, path: string, scheme: ChainScheme): Order {
  if (!isObject(json)) throw mismatch(path, json, 'jsobject');
  const version = json['version'] ?? 1;
  if (version !== 1 && version !== 2) {
    const reason = 'Bad order version';
    throw new CodecError(`${path}.version`, reason, apiError('Invalid', reason));
  }
  const pair = json['assetPair'];
  if (!isObject(pair)) throw mismatch(`${path}.assetPair`, pair, 'jsobject');
  const flat = {
    ...json,
    amountAsset: nativeOrId(pair['amountAsset'], scheme),
    priceAsset: nativeOrId(pair['priceAsset'], scheme),
  };
  const values = body.fromJson(flat, path, scheme);
  return buildOrder(version, values, consent(json, version, path, scheme), scheme);
}

/** The native token may also be given by its name, and by the name that client libraries use. */
const nativeOrId = (text: unknown, { nativeToken }: ChainScheme): unknown =>
  text === 'WAVES' || text === nativeToken ? null : text;

/** Requests carry `proofs`, `signature` or both. */
function consent(
  json: JsonObject,
  version: 1 | 2,
  path: string,
  scheme: ChainScheme,
): readonly Uint8Array[] {
  const { proofs, signature: text } = json;
  const first = Array.isArray(proofs) ? proofs[0] : undefined;
  if (version === 1) return [signature.fromJson(text ?? first, `${path}.signature`, scheme)];
  if (proofs === undefined || proofs === null) {
    return proofsCodec.fromJson(text === undefined ? text : [text], `${path}.proofs`, scheme);
  }
  return proofsCodec.fromJson(proofs, `${path}.proofs`, scheme);
}

/** `id` and `sender` are in answers; requests may leave them out. */
export const orderSchema = {
  type: 'object',
  properties: {
    version: { enum: [1, 2] },
    id: base58.schema,
    sender: { type: 'string', description: 'address' },
    ...(body.schema['properties'] as object),
    assetPair: {
      type: 'object',
      properties: { amountAsset: optionalAssetId.schema, priceAsset: optionalAssetId.schema },
    },
    signature: base58.schema,
    proofs: proofsCodec.schema,
  },
} as const;
