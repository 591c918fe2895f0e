// libsodium and the check by tables give the same verdict. Numbers of pools make a case cheap, so that
// `npm run test:signatures` compares ten million: keys and R with parts of small order, whose verdict
// depends on the challenge, signatures of OpenSSL, and bits that flip. The edges that are known by
// name are in ../differential.test.ts.
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import sodium from 'sodium-native';
import t, { type Test } from 'tap';
import { concat } from '../../../src/base/bytes.ts';
import { decodeHex, encodeHex } from '../../../src/base/hex.ts';
import { fromInteger, toInteger } from '../../../src/crypto/curve25519/field.ts';
import { CHECKS_MAX, TableChecks } from '../../../src/crypto/curve25519/table-checks.ts';
import { seededRandom } from '../random.ts';

const { Point } = ed25519;
type Point = InstanceType<typeof Point>;
const L = Point.Fn.ORDER;
const CASES = Number(process.env['SIGNATURE_CASES'] ?? 5000);
const KEYS = 64;
const SIGN_BIT = 0x80;

interface Check {
  readonly key: number;
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

const random = seededRandom(process.env['SIGNATURE_SEED'] ?? 'table checks');
const torsion = multiples(
  Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'),
);
const keys = Array.from({ length: KEYS }, (_, n) => {
  const scalar = randomScalar();
  return {
    scalar,
    bytes: Point.BASE.multiply(scalar)
      .add(torsion[n % 8]!)
      .toBytes(),
  };
});
const nonces = Array.from({ length: KEYS }, (_, n) => {
  const scalar = randomScalar();
  const part = n < KEYS / 2 ? Point.ZERO : torsion[n % 8]!;
  return { scalar, r: Point.BASE.multiply(scalar).add(part).toBytes() };
});
const openssl = Array.from({ length: KEYS }, () => {
  const der = concat(decodeHex('302e020100300506032b657004220420'), random.bytes(32));
  const privateKey = createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey)
    .export({ format: 'der', type: 'spki' })
    .subarray(-32);
  return { publicKey: new Uint8Array(publicKey), privateKey };
});

t.test('equal verdicts', { timeout: 30_000 + CASES }, async (t) => {
  const checks = new TableChecks(2 * KEYS);
  const all = [...keys.map(({ bytes }) => bytes), ...openssl.map(({ publicKey }) => publicKey)];
  const ys = all.map((key) => withoutSign(key));
  for (const y of ys) checks.tables.add(y, y);
  const tally = { good: 0, bad: 0, batches: 0 };

  for (let left = CASES; left > 0; ) {
    const batch = Array.from({ length: 1 + (random.bytes(1)[0]! % CHECKS_MAX) }, nextCheck);
    const waiting: Check[] = [];
    for (const one of batch) {
      const table = checks.tables.find(ys[one.key]!);
      if (table === undefined) t.fail('a key has no table');
      else if (checks.add(table, one.publicKey, one.message, one.signature)) waiting.push(one);
      else compare(t, one, false);
    }
    for (const [n, verdict] of checks.verdicts().entries()) {
      compare(t, waiting[n]!, verdict);
      tally[verdict ? 'good' : 'bad']++;
    }
    tally.batches++;
    left -= batch.length;
  }
  t.comment(JSON.stringify(tally));
  t.ok(tally.good > CASES / 4 && tally.bad > CASES / 4, JSON.stringify(tally));
});

function compare(t: Test, one: Check, verdict: boolean): void {
  const expected = sodium.crypto_sign_verify_detached(one.signature, one.message, one.publicKey);
  if (verdict !== expected) {
    const hex = [one.publicKey, one.message, one.signature].map(encodeHex);
    t.fail(`libsodium ${expected}, table ${verdict}: ${hex.join(' ')}`);
  }
}

/** A quarter is signed by OpenSSL, a quarter has another bit somewhere. */
function nextCheck(): Check {
  const [source, who, nonce, change, bit, length] = random.bytes(6) as unknown as Six;
  const message = random.bytes(length);
  const { key, publicKey, signature } =
    source % 4 === 0 ? signedByOpenssl(who % KEYS, message) : signed(who % KEYS, nonce, message);
  if (change < 48) flip(signature, bit + 256 * (change % 2));
  else if (change < 52) publicKey[31]! ^= SIGN_BIT;
  else if (change < 56 && length > 0) flip(message, bit % (8 * length));
  return { key, publicKey, message, signature };
}

type Six = [number, number, number, number, number, number];

function signedByOpenssl(who: number, message: Uint8Array): Omit<Check, 'message'> {
  const { publicKey, privateKey } = openssl[who]!;
  const signature = new Uint8Array(sign(null, message, privateKey));
  return { key: KEYS + who, publicKey: publicKey.slice(), signature };
}

/** S = r + h·a, by a key and with an R that may have parts of small order. */
function signed(who: number, nonce: number, message: Uint8Array): Omit<Check, 'message'> {
  const { scalar, bytes } = keys[who]!;
  const { scalar: r, r: R } = nonces[nonce % KEYS]!;
  const digest = new Uint8Array(64);
  sodium.crypto_hash_sha512(digest, concat(R, bytes, message));
  const h = toInteger(digest.subarray(0, 32)) + (toInteger(digest.subarray(32)) << 256n);
  return {
    key: who,
    publicKey: bytes.slice(),
    signature: concat(R, fromInteger((r + h * scalar) % L)),
  };
}

function randomScalar(): bigint {
  return toInteger(random.bytes(32)) % L;
}

/** The eight multiples of a point of order eight. */
function multiples(point: Point): Point[] {
  const points = [Point.ZERO];
  while (points.length < 8) points.push(points.at(-1)!.add(point));
  return points;
}

function withoutSign(key: Uint8Array): Uint8Array {
  const y = key.slice();
  y[31]! &= ~SIGN_BIT;
  return y;
}

function flip(bytes: Uint8Array, bit: number): void {
  bytes[bit >> 3]! ^= 1 << (bit & 7);
}
