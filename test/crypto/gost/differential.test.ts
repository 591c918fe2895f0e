// The national family against the reference and against the client library, on random and on extreme
// input.
import t from 'tap';
import { concat } from '../../../src/base/bytes.ts';
import { createGost } from '../../../src/crypto/gost/gost-family.ts';
import { createKuznyechik } from '../../../src/crypto/gost/kuznyechik.ts';
import { createStreebog } from '../../../src/crypto/gost/streebog.ts';
import { createEngine } from '../../../src/crypto/gost/wasm/engine.ts';
import { seededRandom } from '../random.ts';
import * as library from './client-library.ts';
import { bigEndian, cryptoProA, integer, littleEndian, P, Q, referenceOf } from './reference.ts';

const family = createGost({ cachedKeys: 4 });
const reference = referenceOf(cryptoProA);
const random = seededRandom('national');
const engine = createEngine(0);
const streebog = createStreebog(engine);
const kuznyechik = createKuznyechik(engine);

/** Both verdicts, which must be the same. */
function verdict(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const [s, r] = [signature.slice(0, 32), signature.slice(32)].map((part) =>
    integer(part.reverse()),
  ) as [bigint, bigint];
  const expected = reference.verifyHash(publicKey, integer(library.streebog256(message)), r, s);
  const found = family.verify(publicKey, message, signature);
  t.equal(found, expected, 'family and reference agree');
  return found;
}

t.test('hashes of every length up to four blocks, and of long messages', async (t) => {
  for (let length = 0; length <= 260; length++) {
    const message = random.bytes(length);
    if (!same(streebog.hash256(message), library.streebog256(message))) t.fail(`length ${length}`);
  }
  for (const length of [8191, 8192, 8193, 20_000]) {
    const message = random.bytes(length);
    const expected = library.streebog256(message);
    t.ok(same(streebog.hash256(message), expected));
    t.ok(same(streebog.hash256(message.subarray(0, 70), message.subarray(70)), expected));
  }
  const ones = new Uint8Array(640).fill(0xff);
  t.strictSame(streebog.hash256(ones), library.streebog256(ones), 'the sum of blocks overflows');
  const key = random.bytes(32);
  t.strictSame(streebog.hmac256(key, ones), library.hmac256(key, ones));
});

t.test('the counter mode', async (t) => {
  // The library errs from the 256th block on.
  for (const length of [0, 1, 15, 16, 17, 255 * 16]) {
    const [key, iv, plain] = [random.bytes(32), random.bytes(8), random.bytes(length)];
    const data = plain.slice();
    kuznyechik.applyCounter(key, iv, data);
    t.ok(same(data, library.kuznyechikCounter(key, iv, plain)), `${length} bytes`);
  }
});

t.test('the counter mode is the block cipher of the counter, also beyond one call', async (t) => {
  const [key, iv] = [random.bytes(32), random.bytes(8)];
  const data = new Uint8Array(40_001);
  kuznyechik.applyCounter(key, iv, data);
  for (let i = 0; 16 * i < data.length; i++) {
    const counter = new Uint8Array(16);
    counter.set(iv);
    new DataView(counter.buffer).setUint32(12, i);
    const found = data.subarray(16 * i, 16 * i + 16);
    const block = kuznyechik.encryptBlock(key, counter).subarray(0, found.length);
    if (!same(found, block)) t.fail(`block ${i}`);
  }
});

t.test('public keys of extreme private keys', async (t) => {
  for (const d of [1n, 2n, 3n, 15n, 16n, 17n, 2n ** 128n, Q / 2n, Q - 2n, Q - 1n]) {
    const key = family.publicKeyOf(littleEndian(d, 32));
    t.strictSame(key, reference.publicKeyOf(d));
  }
  const above = littleEndian(Q + 5n, 32);
  t.strictSame(family.publicKeyOf(above), reference.publicKeyOf(5n), 'reduced modulo q');
  for (const d of [0n, Q]) t.throws(() => family.publicKeyOf(littleEndian(d, 32)));
});

t.test('signatures of each are good for all', async (t) => {
  for (let i = 0; i < 12; i++) {
    const { privateKey, publicKey } = family.generateKeyPair(random);
    const message = random.bytes(i * 37);
    const own = family.sign(privateKey, message, random);
    t.equal(verdict(publicKey, message, own), true);
    const foreign = library.sign(privateKey, message);
    t.equal(verdict(publicKey, message, foreign), true);
    if (i < 2) t.equal(library.verify(publicKey, message, own), true);
    for (const bit of [3, 200, 300, 511]) {
      verdict(publicKey, message, flip(own, bit));
      verdict(flip(publicKey, bit), message, own);
    }
  }
});

t.test('extreme parts of a signature and extreme keys', async (t) => {
  const message = random.bytes(50);
  const e = integer(library.streebog256(message)) % Q;
  const parts = [0n, 1n, 2n, P - Q - 1n, P - Q, P - Q + 1n, Q - 1n, Q, Q + 1n, P, 2n ** 256n - 1n];
  const publicKeys = [1n, 2n, Q - 1n, e].map((d) => reference.publicKeyOf(d));
  for (const publicKey of publicKeys) {
    for (const s of parts) {
      for (const r of parts) {
        verdict(publicKey, message, concat(bigEndian(s, 32), bigEndian(r, 32)));
      }
    }
    // s = r·d is the sum of opposite points: the neutral element is the x of no signature.
    verdict(publicKey, message, concat(bigEndian(e, 32), bigEndian(1n, 32)));
  }
  t.pass('no verdict differs');
});

t.test('r above the gap between p and q stands for one x, below it for two', async (t) => {
  // A point whose x is at least q: its r is x − q.
  let x = Q;
  while (!isSquare(cube(x))) x += 1n;
  const y = root(cube(x));
  const point = reference.Point.fromAffine({ x, y });
  // With e known, choose s = e·a, r = x − q, and the key −(C − a·G)·e/r, which nobody can sign for.
  const message = random.bytes(10);
  const e = integer(library.streebog256(message)) % Q;
  const r = x - Q;
  const a = 12345n;
  const rest = reference.Point.BASE.multiply(a).subtract(point);
  const factor = (e * reference.Point.Fn.inv(r)) % Q;
  const affine = rest.multiplyUnsafe(factor).toAffine();
  const publicKey = concat(littleEndian(affine.x, 32), littleEndian(affine.y, 32));
  const signature = concat(bigEndian((e * a) % Q, 32), bigEndian(r, 32));
  t.ok(r < P - Q);
  t.equal(verdict(publicKey, message, signature), true);
});

t.test('what is no point of the curve is no key', async (t) => {
  const { privateKey, publicKey } = family.generateKeyPair(random);
  const message = random.bytes(10);
  const signature = family.sign(privateKey, message, random);
  const x = publicKey.slice(0, 32);
  const y = publicKey.slice(32);
  const negative = littleEndian(P - integer(y), 32);
  const base = reference.publicKeyOf(1n).subarray(32);
  const bad = [
    new Uint8Array(64),
    new Uint8Array(64).fill(0xff),
    concat(y, x),
    concat(littleEndian(integer(x) ^ 1n, 32), y),
    // The base point with x = 1 + p, which is a number of 32 bytes.
    concat(littleEndian(1n + P, 32), base),
  ];
  for (const key of bad) {
    t.equal(verdict(key, message, signature), false);
    t.ok(family.isWeakPublicKey(key));
    t.throws(() => family.agree(privateKey, key));
  }
  t.notOk(family.isWeakPublicKey(concat(x, negative)), 'the opposite point is a key');
  t.equal(verdict(concat(x, negative), message, signature), false);
});

t.test('agreement', async (t) => {
  const [a, b] = [family.generateKeyPair(random), family.generateKeyPair(random)];
  const one = littleEndian(1n, 8);
  const secret = family.agree(a.privateKey, b.publicKey);
  t.strictSame(secret, reference.agree(integer(a.privateKey), b.publicKey, 1n));
  t.strictSame(secret, library.agree(a.privateKey, b.publicKey, one));
  const wrapped = family.wrapKey(a.privateKey, b.publicKey, random.bytes(32), random);
  t.equal(wrapped.length, 8 + 8 + 32 + 32);
  const noMaterial = concat(new Uint8Array(8), wrapped.subarray(8));
  t.equal(family.unwrapKey(b.privateKey, a.publicKey, noMaterial), undefined);
});

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

function cube(x: bigint): bigint {
  return (((x * x) % P) * x - 3n * x + 166n + 3n * P) % P;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base % P;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

function isSquare(value: bigint): boolean {
  return power(value, (P - 1n) / 2n) === 1n;
}

/** p = 3 modulo 4. */
function root(value: bigint): bigint {
  return power(value, (P + 1n) / 4n);
}
