/**
 * Messages about private data (privacy.md#exchange-between-nodes).
 *
 * One item, on a stream of its own:
 *
 *   →  policyId 32 | hash 32 | ephemeral key k | signature 64
 *   ←  0                                     nothing for you, whatever the reason
 *      1 | ephemeral key k | signature 64    and then the chunks of crypto/stream-cipher.ts, of at
 *                                            most 64 KiB each; their plain text is
 *                                            header length 4 | header | data
 *
 *   header   sender 26 | type 4+n | filename 4+n | size 4+n | timestamp 8 | author 4+n | comment 4+n
 *
 * Both ephemeral keys are signed by the owners of the two nodes:
 *
 *   request  "permchain-private-v1" | 1 | asker 26 | replier 26 | policyId | hash | its key
 *   offer    "permchain-private-v1" | 2 | asker 26 | replier 26 | policyId | hash | key of the asker
 *            | its key
 *
 * and the key of the chunks is HKDF-SHA256(secret of the two keys, salt: both keys, info: the same
 * text), with policyId | hash as associated data. So the data are safe from an attacker between the
 * two nodes, even where the transport's own encryption ends on the way. A recorded request opens
 * nothing, because its ephemeral key is gone.
 *
 * The items that a node has, as separate notices:
 *
 *   count 2 | count × (policyId 32 | hash 32)
 *
 * They carry no signature. The holder announces them on its own session, whose handshake its owner
 * has signed, and no other node relays them.
 */

import { concat, utf8 } from '../../base/bytes.ts';
import type { PrivateItem } from '../../base/ports/private-store.ts';
import { ADDRESS_BYTES, ID_BYTES, SIGNATURE_BYTES } from '../../base/sizes.ts';
import { type ChainScheme, CodecError, Reader } from '../../codec/codec.ts';
import { bytes, i64, text32 } from '../../codec/primitives.ts';
import { scratch } from '../../codec/scratch.ts';
import { list16, struct } from '../../codec/struct.ts';
import { hex } from '../../codec/text.ts';
import type { ItemId } from './item-id.ts';

export const DATA = 'private-data/1';
export const ITEMS = 'private-items/1';
export const PURPOSE = 'permchain-private-v1';

export const MESSAGE_BYTES_MAX = 64 * 1024;
/** UTF-16 units of each text of an item (privacy.md#sending). */
export const TEXT_CHARS_MAX = 32_768;
/** A unit takes at most three bytes of UTF-8. */
const TEXT_BYTES_MAX = 3 * TEXT_CHARS_MAX;
export const LENGTH_BYTES = 4;
export const HEADER_BYTES_MAX = ADDRESS_BYTES + 8 + 5 * (LENGTH_BYTES + TEXT_BYTES_MAX);
export const ITEMS_MAX = 100;
export const ITEMS_BYTES_MAX = 2 + ITEMS_MAX * 2 * ID_BYTES;

const id = bytes(ID_BYTES, hex);
const item = struct({ policyId: id, hash: id });
const items = list16(item, ITEMS_MAX);
const text = text32(TEXT_BYTES_MAX);
const header = struct({
  sender: bytes(ADDRESS_BYTES, hex),
  type: text,
  filename: text,
  size: text,
  timestamp: i64,
  author: text,
  comment: text,
});

/** One side's part of the key agreement. */
export interface Half {
  readonly ephemeralKey: Uint8Array;
  readonly signature: Uint8Array;
}

export interface DataRequest extends ItemId, Half {}

const NOTHING = 0;
const OFFER = 1;
export const NO_DATA = Uint8Array.of(NOTHING);

export const encodeRequest = ({ policyId, hash, ephemeralKey, signature }: DataRequest) =>
  concat(policyId, hash, ephemeralKey, signature);

/** Throws CodecError. */
export function decodeRequest(message: Uint8Array, scheme: ChainScheme): DataRequest {
  const src = new Reader(message, scheme);
  const request = { ...item.read(src), ...readHalf(src) };
  src.finish();
  return request;
}

export const encodeOffer = ({ ephemeralKey, signature }: Half): Uint8Array =>
  concat(Uint8Array.of(OFFER), ephemeralKey, signature);

/** Undefined where the peer offers nothing. Throws CodecError. */
export function decodeOffer(message: Uint8Array, scheme: ChainScheme): Half | undefined {
  const src = new Reader(message, scheme);
  const tag = src.u8();
  if (tag !== NOTHING && tag !== OFFER) throw new CodecError('bytes', `${tag} is no answer`);
  const half = tag === OFFER ? readHalf(src) : undefined;
  src.finish();
  return half;
}

const readHalf = (src: Reader): Half => ({
  ephemeralKey: src.bytes(src.scheme.publicKeySize),
  signature: src.bytes(SIGNATURE_BYTES),
});

/** The two sides of a transfer, and the item. */
export interface Exchange extends ItemId {
  /** Addresses of the owners. */
  readonly asker: Uint8Array;
  readonly replier: Uint8Array;
}

const ASKER = 1;
const REPLIER = 2;

export const signedByAsker = (about: Exchange, askersKey: Uint8Array): Uint8Array =>
  signedBy(ASKER, about, askersKey);

export const signedByReplier = (
  about: Exchange,
  askersKey: Uint8Array,
  repliersKey: Uint8Array,
): Uint8Array => concat(signedBy(REPLIER, about, askersKey), repliersKey);

const signedBy = (role: number, { asker, replier, policyId, hash }: Exchange, key: Uint8Array) =>
  concat(utf8(PURPOSE), Uint8Array.of(role), asker, replier, policyId, hash, key);

/** The header after its length. */
export function encodeHeader(
  value: Omit<PrivateItem, keyof ItemId>,
  scheme: ChainScheme,
): Uint8Array {
  const out = scratch(scheme);
  out.u32(0);
  header.write(out, value);
  out.patchI32(0, out.position - LENGTH_BYTES);
  return out.take();
}

/** Throws CodecError. */
export function decodeHeader(
  message: Uint8Array,
  scheme: ChainScheme,
): Omit<PrivateItem, keyof ItemId> {
  const src = new Reader(message, scheme);
  const value = header.read(src);
  src.finish();
  return value;
}

export function encodeItems(list: readonly ItemId[], scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  items.write(out, list);
  return out.take();
}

/** Throws CodecError. */
export function decodeItems(message: Uint8Array, scheme: ChainScheme): readonly ItemId[] {
  const src = new Reader(message, scheme);
  const list = items.read(src);
  src.finish();
  return list;
}
