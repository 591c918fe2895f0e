/**
 * Signatures and key agreement of the national family a second time: the equations of the standards
 * over integers, on points of @noble/curves, for any curve. It is slow and not meant for secrets.
 */
import { weierstrass } from '@noble/curves/abstract/weierstrass.js';
import { streebog256 } from './client-library.ts';

export interface Curve {
  readonly p: bigint;
  readonly a: bigint;
  readonly b: bigint;
  readonly q: bigint;
  readonly x: bigint;
  readonly y: bigint;
}

export const P = 2n ** 256n - 617n;
export const Q = 0xffffffffffffffffffffffffffffffff6c611070995ad10045841b09b761b893n;

export const cryptoProA: Curve = {
  p: P,
  a: P - 3n,
  b: 0xa6n,
  q: Q,
  x: 1n,
  y: 0x8d91e471e0989cda27df505a453f2b7635294f2ddf23e3b122acc99c9e9f1e14n,
};

export function referenceOf({ p, a, b, q, x, y }: Curve) {
  const Point = weierstrass({ p, n: q, h: 1n, a, b, Gx: x, Gy: y });
  const bytes = Math.ceil(p.toString(16).length / 2);
  type Point = InstanceType<typeof Point>;
  const modQ = (value: bigint) => ((value % q) + q) % q;
  const times = (point: Point, factor: bigint) =>
    factor === 0n ? Point.ZERO : point.multiplyUnsafe(factor);

  const publicKeyOf = (d: bigint): Uint8Array => encode(Point.BASE.multiply(d));

  function encode(point: Point): Uint8Array {
    const affine = point.toAffine();
    return Uint8Array.from([...littleEndian(affine.x, bytes), ...littleEndian(affine.y, bytes)]);
  }

  /** Undefined for what is no point of the curve. */
  function decode(key: Uint8Array): Point | undefined {
    const [px, py] = [integer(key.subarray(0, bytes)), integer(key.subarray(bytes))];
    if (key.length !== 2 * bytes || px >= p || py >= p) return undefined;
    try {
      const point = Point.fromAffine({ x: px, y: py });
      point.assertValidity();
      return point;
    } catch {
      return undefined;
    }
  }

  return {
    Point,
    publicKeyOf,

    signHash(d: bigint, e: bigint, k: bigint): { r: bigint; s: bigint } {
      const r = modQ(Point.BASE.multiply(k).toAffine().x);
      return { r, s: modQ(r * d + k * e) };
    },

    verifyHash(publicKey: Uint8Array, hash: bigint, r: bigint, s: bigint): boolean {
      const point = decode(publicKey);
      if (point === undefined || r <= 0n || r >= q || s <= 0n || s >= q) return false;
      const e = modQ(hash) === 0n ? 1n : modQ(hash);
      const v = Point.Fn.inv(e);
      const sum = times(Point.BASE, modQ(s * v)).add(times(point, modQ(-r * v)));
      return !sum.is0() && modQ(sum.toAffine().x) === r;
    },

    agree(d: bigint, publicKey: Uint8Array, material: bigint): Uint8Array {
      return streebog256(encode(decode(publicKey)!.multiply(modQ(material * d))));
    },
  };
}

/** Little-endian. */
export const integer = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);

export const littleEndian = (value: bigint, size: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));

export const bigEndian = (value: bigint, size: number): Uint8Array =>
  littleEndian(value, size).reverse();
