/**
 * Just enough Ethereum to sign plain transfers by the hundred thousand (EIP-155): RLP, keccak,
 * secp256k1. An account signs everything with the same nonce point, which saves the only costly
 * step of a signature but reveals the key. These keys own only test money.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';

export interface Account {
  readonly address: Uint8Array;
  readonly key: bigint;
  /** x of the nonce point, and whether its y is odd. */
  readonly r: bigint;
  readonly rIsOdd: boolean;
  /** The inverse of the nonce. */
  readonly inverse: bigint;
}

export interface Transfer {
  readonly nonce: number;
  readonly gasPrice: bigint;
  readonly to: Uint8Array;
  readonly value: bigint;
  readonly chainId: number;
}

const TRANSFER_GAS = 21_000;

const { Fn, BASE } = secp256k1.Point;

export function accountOf(seed: string): Account {
  const secret = keccak_256(Buffer.from(seed));
  const nonce = toInteger(keccak_256(Buffer.from(`nonce of ${seed}`)));
  const point = BASE.multiply(nonce).toAffine();
  return {
    address: keccak_256(secp256k1.getPublicKey(secret, false).subarray(1)).slice(-20),
    key: toInteger(secret),
    r: Fn.create(point.x),
    rIsOdd: (point.y & 1n) === 1n,
    inverse: Fn.inv(nonce),
  };
}

/** The raw transaction that eth_sendRawTransaction takes. */
export function signTransfer(transfer: Transfer, from: Account): Uint8Array {
  const { nonce, gasPrice, to, value, chainId } = transfer;
  const common = [integer(nonce), integer(gasPrice), integer(TRANSFER_GAS), to, integer(value)];
  const none = new Uint8Array(0);
  const unsigned = rlpList([...common, none, integer(chainId), none, none]);
  const hash = toInteger(keccak_256(unsigned));
  const s = Fn.mul(from.inverse, Fn.add(Fn.create(hash), Fn.mul(from.r, from.key)));
  // Of s and −s only the lower one is valid; the other belongs to the mirrored point.
  const isHigh = s > Fn.ORDER >> 1n;
  const v = chainId * 2 + 35 + (from.rIsOdd === isHigh ? 0 : 1);
  return rlpList([...common, none, integer(v), integer(from.r), integer(isHigh ? Fn.neg(s) : s)]);
}

export const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

/** Big-endian without leading zeros; zero is empty. */
function integer(value: number | bigint): Uint8Array {
  const text = value.toString(16);
  return value > 0
    ? Buffer.from(text.length % 2 === 0 ? text : `0${text}`, 'hex')
    : Buffer.alloc(0);
}

const toInteger = (bytes: Uint8Array): bigint => BigInt(hex(bytes));

function rlpList(items: readonly Uint8Array[]): Uint8Array {
  const payload = Buffer.concat(items.map(rlpString));
  return Buffer.concat([rlpHead(payload.length, 0xc0), payload]);
}

function rlpString(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 1 && bytes[0]! < 0x80) return bytes;
  return Buffer.concat([rlpHead(bytes.length, 0x80), bytes]);
}

const SHORT_MAX = 55;

function rlpHead(length: number, offset: number): Uint8Array {
  if (length <= SHORT_MAX) return Uint8Array.of(offset + length);
  const size = integer(length);
  return Buffer.concat([Uint8Array.of(offset + SHORT_MAX + size.length), size]);
}
