/**
 * The same family a second time, in plain JavaScript on @noble. It is about thirty times slower,
 * and only differential tests use it. It follows accounts.md#signatures word by word and writes out
 * what libsodium checks, so that a change of either library is noticed.
 */
import { ed25519, x25519 } from '@noble/curves/ed25519.js';
import { blake2b } from '@noble/hashes/blake2.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concat, equal } from '../../src/base/bytes.ts';

const { Point } = ed25519;
const P = Point.Fp.ORDER;
const L = Point.Fn.ORDER;
const LOW_255_BITS = 2n ** 255n - 1n;

/** y of the eight points whose order divides eight. */
const smallOrderYs: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  P - 1n,
  // The two of the points of order eight.
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
]);

/** u of the points of small order on the curve and its twist. */
const weakUs: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  P - 1n,
  0x00b8495f16056286fdb1329ceb8d09da6ac49ff1fae35616aeb8413b7c7aebe0n,
  0x57119fd0dd4e22d8868e1c58c45c44045bef839c55b1d0b1248c50a3bc959c5fn,
]);

export function fastHash(message: Uint8Array): Uint8Array {
  return blake2b(message, { dkLen: 32 });
}

export function secureHash(message: Uint8Array): Uint8Array {
  return keccak_256(fastHash(message));
}

export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  return x25519.getPublicKey(privateKey);
}

export function agree(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  return x25519.getSharedSecret(privateKey, publicKey);
}

export function verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64 || publicKey.length !== 32) return false;
  const u = (integer(publicKey) & LOW_255_BITS) % P;
  if (weakUs.has(u)) return false;
  const edwardsKey = bytes(edwardsY(u));
  edwardsKey[31]! |= signature[63]! & 0x80;
  const bare = signature.slice();
  bare[63]! &= 0x7f;
  if ((bare[63]! & 0xe0) !== 0) return false;
  return verifyEdwards(edwardsKey, message, bare);
}

/** What libsodium does with an Ed25519 key and signature. */
export function verifyEdwards(
  edwardsKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  const R = signature.subarray(0, 32);
  const s = integer(signature.subarray(32));
  if (s >= L) return false;
  if (hasSmallOrder(R) || hasSmallOrder(edwardsKey)) return false;
  let A: InstanceType<typeof Point>;
  try {
    // Strict: refuses y ≥ p, which libsodium calls non-canonical.
    A = Point.fromBytes(edwardsKey, false);
  } catch {
    return false;
  }
  const h = integer(sha512(concat(R, edwardsKey, message))) % L;
  const expected = times(Point.BASE, s).subtract(times(A, h));
  return equal(expected.toBytes(), R);
}

/** `noise` is the 64 random bytes of the nonce. */
export function sign(privateKey: Uint8Array, message: Uint8Array, noise: Uint8Array): Uint8Array {
  const scalar = privateKey.slice();
  scalar[0]! &= 248;
  scalar[31] = (scalar[31]! & 127) | 64;
  const a = integer(scalar);
  const A = Point.BASE.multiply(a % L).toBytes();
  const prefix = new Uint8Array(32).fill(0xff);
  prefix[0] = 0xfe;
  const r = integer(sha512(concat(prefix, scalar, message, noise))) % L;
  const R = Point.BASE.multiply(r).toBytes();
  const h = integer(sha512(concat(R, A, message))) % L;
  const signature = concat(R, bytes((r + h * a) % L));
  signature[63]! |= A[31]! & 0x80;
  return signature;
}

/** (u − 1) · (u + 1)^(p − 2): the exponent makes 0 of 1/0. */
export function edwardsY(u: bigint): bigint {
  const { Fp } = Point;
  return Fp.mul(Fp.sub(u, 1n), Fp.pow(Fp.add(u, 1n), P - 2n));
}

function hasSmallOrder(encoded: Uint8Array): boolean {
  return smallOrderYs.has((integer(encoded) & LOW_255_BITS) % P);
}

/** multiplyUnsafe of the library refuses the scalar 0 in some versions. */
function times(point: InstanceType<typeof Point>, scalar: bigint): InstanceType<typeof Point> {
  return scalar === 0n ? Point.ZERO : point.multiplyUnsafe(scalar);
}

function integer(littleEndian: Uint8Array): bigint {
  let value = 0n;
  for (let i = littleEndian.length - 1; i >= 0; i--)
    value = (value << 8n) | BigInt(littleEndian[i]!);
  return value;
}

function bytes(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
}
