/**
 * Messages of the handshake (network.md#handshake), all on one stream, dialler first:
 *
 *   1 hello    who a node is and what its network is
 *   2 auth     signature 64 by the owner over
 *              "permchain-hs-v1" | role 1 | fast(own hello) | fast(other hello)
 *              | length 1, own transport id | length 1, other transport id
 *   3 refusal  text 2+n
 *
 * role: 1 the dialler, 2 the listener. The hashes are over whole messages, tag included, so a
 * signature is good for one connection between two transport keys and in one direction only (H-23).
 *
 *   hello: 1 | version 3×2 | agent 2+n | chain id 1 | genesis id 64 | consensus type 2+n
 *          | settings hash d | node name 2+n | nonce 8 | declared address 1 [host 2+n, port 2]
 *          | owner key k | ephemeral key k | challenge 32 | mode 1 | features 2×(2+n)
 *          | miner 1 [key k, signature 64]
 *
 * miner: the account that makes the blocks of this node, where it is not the owner. It signs
 * "permchain-miner-v1" | genesis id 64 | address of the owner, so no other owner can claim it.
 */

import { concat, utf8 } from '../../base/bytes.ts';
import { BLOCK_ID_BYTES, SIGNATURE_BYTES } from '../../base/sizes.ts';
import {
  type ChainScheme,
  type Codec,
  CodecError,
  Reader,
  type ValueOf,
} from '../../codec/codec.ts';
import { bytes, bytes16, check, i64, map, text16, u8, u16 } from '../../codec/primitives.ts';
import { scratch } from '../../codec/scratch.ts';
import { list16, option, struct } from '../../codec/struct.ts';
import { hex } from '../../codec/text.ts';
import { HOST_BYTES_MAX, isAddress } from './peer-address.ts';

export const HELLO_BYTES_MAX = 4096;
const NODE_NAME_BYTES_MAX = 127;
export const CHALLENGE_BYTES = 32;
const REFUSAL_BYTES_MAX = 512;
const FEATURES_MAX = 32;
/** Among the features of a node that has overrides of voters, before their hash as Base58 (finality.md#overrides). */
export const OVERRIDES = 'voters/';
const DIGEST_BYTES_MAX = 64;

const HELLO = 1;
const AUTH = 2;
const REFUSAL = 3;

/** A watcher receives blocks and serves reads; it makes no blocks and relays no transactions. */
export type NodeMode = 'default' | 'watcher';

const MODES: readonly NodeMode[] = ['default', 'watcher'];

const mode: Codec<NodeMode> = map(
  check(u8, (value) => (value < MODES.length ? undefined : `${value} is no mode`)),
  (value) => MODES[value]!,
  (value) => MODES.indexOf(value),
);

const place = check(struct({ host: text16(HOST_BYTES_MAX), port: u16 }), (value) =>
  isAddress(value) ? undefined : 'no address',
);

/** Of the same size as the keys of this network. */
const publicKey: Codec<Uint8Array> = {
  ...bytes(0, hex),
  write: (out, value) => out.bytes(value),
  read: (src) => src.bytes(src.scheme.publicKeySize),
};

const hello = struct({
  version: struct({ major: u16, minor: u16, patch: u16 }),
  agent: text16(64),
  chainId: u8,
  genesisId: bytes(BLOCK_ID_BYTES, hex),
  consensusType: text16(16),
  settingsHash: bytes16(DIGEST_BYTES_MAX, hex),
  nodeName: text16(NODE_NAME_BYTES_MAX),
  nonce: i64,
  declaredAddress: option(place),
  ownerPublicKey: publicKey,
  /** For keys agreed on above the channel; nothing uses it yet. */
  ephemeralKey: publicKey,
  challenge: bytes(CHALLENGE_BYTES, hex),
  mode,
  features: list16(text16(64), FEATURES_MAX),
  miner: option(struct({ publicKey, signature: bytes(SIGNATURE_BYTES, hex) })),
});
export type Hello = ValueOf<typeof hello>;

const refusalText = text16(REFUSAL_BYTES_MAX);

export type HandshakeMessage =
  | { readonly kind: 'hello'; readonly hello: Hello }
  | { readonly kind: 'auth'; readonly signature: Uint8Array }
  | { readonly kind: 'refusal'; readonly why: string };

export function encodeHello(value: Hello, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  out.u8(HELLO);
  hello.write(out, value);
  return out.take();
}

export const encodeAuth = (signature: Uint8Array): Uint8Array =>
  concat(Uint8Array.of(AUTH), signature);

export function encodeRefusal(why: string, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  out.u8(REFUSAL);
  refusalText.write(out, why.slice(0, REFUSAL_BYTES_MAX / 4));
  return out.take();
}

/** Throws CodecError. */
export function decodeHandshake(message: Uint8Array, scheme: ChainScheme): HandshakeMessage {
  const src = new Reader(message, scheme);
  const tag = src.u8();
  const value = contentOf(tag, src);
  src.finish();
  return value;
}

function contentOf(tag: number, src: Reader): HandshakeMessage {
  if (tag === HELLO) return { kind: 'hello', hello: hello.read(src) };
  if (tag === AUTH) return { kind: 'auth', signature: src.bytes(SIGNATURE_BYTES) };
  if (tag === REFUSAL) return { kind: 'refusal', why: refusalText.read(src) };
  throw new CodecError('bytes', `${tag} is no message of the handshake`);
}

const MINER_CONTEXT = utf8('permchain-miner-v1');

/** The bytes that the block-making account of this owner's node signs. */
export const signedByMiner = (genesisId: Uint8Array, owner: Uint8Array): Uint8Array =>
  concat(MINER_CONTEXT, genesisId, owner);

const CONTEXT = utf8('permchain-hs-v1');
export const DIALLER = 1;
export const LISTENER = 2;

export interface Channel {
  readonly role: typeof DIALLER | typeof LISTENER;
  readonly ownHello: Uint8Array;
  readonly otherHello: Uint8Array;
  readonly ownId: Uint8Array;
  readonly otherId: Uint8Array;
}

/** The bytes that the owner of this side signs. */
export function signedInHandshake(
  { role, ownHello, otherHello, ownId, otherId }: Channel,
  fastHash: (bytes: Uint8Array) => Uint8Array,
): Uint8Array {
  return concat(
    CONTEXT,
    Uint8Array.of(role),
    fastHash(ownHello),
    fastHash(otherHello),
    Uint8Array.of(ownId.length),
    ownId,
    Uint8Array.of(otherId.length),
    otherId,
  );
}

/** The same connection from the other side. */
export const mirrored = (channel: Channel): Channel => ({
  role: channel.role === DIALLER ? LISTENER : DIALLER,
  ownHello: channel.otherHello,
  otherHello: channel.ownHello,
  ownId: channel.otherId,
  otherId: channel.ownId,
});
