// libsodium, the check by tables and the reference give the same verdict on all inputs on which
// implementations of Ed25519 are known to disagree.
import { ed25519 } from '@noble/curves/ed25519.js';
import sodium from 'sodium-native';
import t from 'tap';
import { concat, equal } from '../../src/base/bytes.ts';
import { createCurve25519 } from '../../src/crypto/curve25519/curve25519-family.ts';
import { edwardsOf, fromInteger, toInteger } from '../../src/crypto/curve25519/field.ts';
import { sha512 } from '../../src/crypto/curve25519/hashes.ts';
import { isWeakPublicKey } from '../../src/crypto/curve25519/keys.ts';
import { TableChecks } from '../../src/crypto/curve25519/table-checks.ts';
import * as reference from './curve25519-reference.ts';
import { seededRandom } from './random.ts';

const { Point } = ed25519;
type Point = InstanceType<typeof Point>;
const P = Point.Fp.ORDER;
const L = Point.Fn.ORDER;
const family = createCurve25519();
const random = seededRandom('differential');
const torsion = pointsOfSmallOrder();
// A place for each key, since none is free again soon.
const tableChecks = new TableChecks(4096);
const byTable = { true: 0, false: 0 };

const signers = Array.from({ length: 6 }, () => family.generateKeyPair(random));
const signed = signers.map(({ privateKey, publicKey }, i) => {
  const message = random.bytes(i * 40);
  return { publicKey, message, signature: family.sign(privateKey, message, random) };
});

t.test('valid signatures', async (t) => {
  for (const { publicKey, message, signature } of signed) {
    t.equal(verdict(publicKey, message, signature), true);
  }
});

t.test('one flipped bit anywhere', async (t) => {
  const { publicKey, message, signature } = signed[1]!;
  for (let bit = 0; bit < 512; bit += 3) {
    if (verdict(publicKey, message, flip(signature, bit))) t.fail(`bit ${bit} of the signature`);
  }
  for (let bit = 0; bit < 255; bit += 7) {
    if (verdict(flip(publicKey, bit), message, signature)) t.fail(`bit ${bit} of the key`);
  }
  t.equal(verdict(publicKey, flip(message, 100), signature), false);
  t.equal(
    verdict(flip(publicKey, 255), message, signature),
    true,
    'bit 255 of a key is no part of it',
  );
});

t.test('S is below L', async (t) => {
  for (const { publicKey, message, signature } of signed) {
    const sign = signature[63]! & 0x80;
    const s = toInteger(withSign(signature.subarray(32), 0));
    for (const other of [s + L, s + 2n * L, s + 7n * L, L, L - 1n, L + 1n, 0n, 2n ** 252n]) {
      const forged = concat(signature.subarray(0, 32), withSign(fromInteger(other), sign));
      t.equal(verdict(publicKey, message, forged), false);
    }
  }
});

t.test('excess bits', async (t) => {
  for (const { publicKey, message, signature } of signed) {
    for (const bits of [0x20, 0x40, 0x60]) {
      const changed = signature.slice();
      changed[63]! |= bits;
      t.equal(verdict(publicKey, message, changed), false);
    }
  }
});

t.test('wrong sizes', async (t) => {
  const { publicKey, message, signature } = signed[2]!;
  for (const size of [0, 1, 31, 33, 63, 64, 65, 96]) {
    const bytes = concat(signature, signature).subarray(0, size);
    if (size !== 64) t.equal(verdict(publicKey, message, bytes), false);
    if (size !== 32) t.equal(verdict(bytes, message, signature), false);
  }
});

t.test('weak keys, in every spelling', async (t) => {
  const us = torsion.flatMap((point) => {
    const { y } = point.toAffine();
    return y === 1n ? [0n] : [Point.Fp.div(1n + y, Point.Fp.sub(1n, y))];
  });
  const spellings = [...us, 1n, P - 1n, P, P + 1n].flatMap((u) => [u, u + 2n ** 255n]);
  for (const u of spellings) {
    const key = fromInteger(u);
    t.ok(family.isWeakPublicKey(key), u.toString(16));
    for (const point of torsion) {
      // S = 0 makes R = −hA, which is one of the eight points: a forgery for sloppy checkers.
      for (const sign of [0, 0x80]) {
        const forged = concat(point.toBytes(), withSign(new Uint8Array(32), sign));
        t.equal(verdict(key, signed[0]!.message, forged), false);
      }
    }
  }
  t.notOk(signers.some(({ publicKey }) => family.isWeakPublicKey(publicKey)));
  t.notOk(family.isWeakPublicKey(new Uint8Array(31)));
});

t.test('other keys that are no canonical number, and keys of the twist', async () => {
  const { message, signature } = signed[1]!;
  for (let u = 2n; u < 19n; u++) {
    verdict(fromInteger(u), message, signature);
    verdict(fromInteger(u + P), message, signature);
  }
});

t.test('conversion of keys', async (t) => {
  const us = Array.from({ length: 19 }, (_, i) => BigInt(i));
  us.push(P - 1n, P - 2n, ...Array.from({ length: 30 }, () => toInteger(random.bytes(32)) % P));
  for (const u of us) {
    const expected = fromInteger(reference.edwardsY(u));
    // Numbers below 19 have a second spelling in 255 bits, and bit 255 does not count.
    const spellings = [u, u + 2n ** 255n, ...(u < 19n ? [u + P] : [])].map(fromInteger);
    for (const spelling of spellings) t.strictSame(edwardsOf([spelling]), [expected]);
    t.strictSame(
      edwardsOf([fromInteger(P - 1n), ...spellings]).slice(1),
      spellings.map(() => expected),
    );
  }
});

t.test('R of small order', async (t) => {
  const { privateKey, publicKey } = signers[0]!;
  const scalar = toInteger(privateKey);
  const A = Point.BASE.multiply(scalar % L);
  const message = random.bytes(20);
  const encodings = torsion.flatMap((point) => {
    const bytes = point.toBytes();
    const { y } = point.toAffine();
    return y < 19n ? [bytes, withSign(fromInteger(y + P), bytes[31]! & 0x80)] : [bytes];
  });
  for (const R of encodings) {
    for (const sign of [0, 0x80]) {
      const raw = schnorr(withSign(R, R[31]! ^ sign), A, scalar, 0n, message);
      t.equal(edwardsVerdict(A.toBytes(), message, raw), false);
      t.equal(verdict(publicKey, message, montgomerySignature(raw, A)), false);
    }
  }
});

t.test('keys and nonces with a part of small order: no cofactor', async (t) => {
  const tally = { accepted: 0, refused: 0 };
  for (const [i, keyPart] of torsion.entries()) {
    const scalar = 1n + (toInteger(random.bytes(32)) % (L - 1n));
    const A = Point.BASE.multiply(scalar).add(keyPart);
    const publicKey = fromInteger(montgomeryU(A));
    for (const noncePart of torsion) {
      const nonce = 1n + (toInteger(random.bytes(32)) % (L - 1n));
      const R = Point.BASE.multiply(nonce).add(noncePart);
      const message = Uint8Array.of(i);
      const raw = schnorr(R.toBytes(), A, scalar, nonce, message);
      const accepted = edwardsVerdict(A.toBytes(), message, raw);
      t.equal(verdict(publicKey, message, montgomerySignature(raw, A)), accepted);
      t.equal(accepted, cofactorless(raw, A, message));
      tally[accepted ? 'accepted' : 'refused'] += 1;
    }
  }
  t.ok(tally.accepted >= 1 && tally.refused >= 40, JSON.stringify(tally));
});

t.test('Edwards keys and nonces that are no canonical number', async (t) => {
  const { message, signature } = signed[0]!;
  const raw = concat(signature.subarray(0, 32), withSign(signature.subarray(32), 0));
  for (let y = 0n; y < 19n; y++) {
    for (const sign of [0, 0x80]) {
      const odd = withSign(fromInteger(y + P), sign);
      t.equal(edwardsVerdict(odd, message, raw), false);
      t.equal(edwardsVerdict(withSign(fromInteger(y), sign), message, raw), false);
      const forged = concat(odd, raw.subarray(32));
      t.equal(edwardsVerdict(Point.BASE.toBytes(), message, forged), false);
    }
  }
});

t.test('random garbage', async (t) => {
  for (let i = 0; i < 100; i++) {
    const signature = random.bytes(64);
    signature[63]! &= 0x8f;
    if (verdict(random.bytes(32), random.bytes(i), signature)) t.fail('accepted');
  }
});

t.test('batches of keys convert like single ones', async (t) => {
  const one = createCurve25519();
  const publicKeys = [
    ...Array.from({ length: 50 }, () => random.bytes(32)),
    ...signers.map(({ publicKey }) => publicKey),
    fromInteger(P - 1n),
    fromInteger(0n),
    fromInteger(1n),
    new Uint8Array(31),
  ];
  const prepared = createCurve25519();
  const { message, signature } = signed[0]!;
  const checks = [...publicKeys, ...publicKeys].map((publicKey) => ({
    publicKey,
    message,
    signature,
  }));
  const verdicts = checks.map(({ publicKey }) => one.verify(publicKey, message, signature));
  t.same(prepared.verifyAll(checks), verdicts);
  for (const { publicKey, message, signature } of signed) {
    t.ok(prepared.verify(publicKey, message, signature));
    t.ok(one.verify(publicKey, message, signature));
  }
  t.equal(prepared.verify(fromInteger(P - 1n), signed[0]!.message, signed[0]!.signature), false);
});

// 100,000 take about five minutes.
const cases = Number(process.env['DIFFERENTIAL_CASES'] ?? 300);

t.test('mutations of every kind at once', { timeout: 30_000 + 30 * cases }, async (t) => {
  const tally = { accepted: 0, refused: 0 };
  for (let i = 0; i < cases; i++) {
    const [kind, a, b, c] = random.bytes(4) as unknown as [number, number, number, number];
    const scalar = toInteger(random.bytes(32)) % L;
    const keyPart = kind & 1 ? torsion[a & 7]! : Point.ZERO;
    const A = Point.BASE.multiply(scalar).add(keyPart);
    const nonce = kind & 2 ? BigInt(b & 3) : toInteger(random.bytes(32)) % L;
    const noncePart = kind & 4 ? torsion[(a >> 3) & 7]! : Point.ZERO;
    const R = (nonce === 0n ? Point.ZERO : Point.BASE.multiply(nonce)).add(noncePart);
    const message = random.bytes(c);
    let signature = montgomerySignature(schnorr(R.toBytes(), A, scalar, nonce, message), A);
    let publicKey = fromInteger(montgomeryU(A));
    if ((kind & 0x18) === 0x18) signature = flip(signature, (a << 1) | (b & 1));
    if ((kind & 0xe0) === 0xe0) publicKey = flip(publicKey, b);
    tally[verdict(publicKey, message, signature) ? 'accepted' : 'refused'] += 1;
  }
  t.ok(tally.accepted > cases / 8 && tally.refused > cases / 8, JSON.stringify(tally));
});

/** The verdict of all, which must be one. */
function verdict(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const [ours, other] = [family, reference].map((it) => it.verify(publicKey, message, signature));
  if (ours !== other) t.fail(`verdicts differ: libsodium ${ours}, reference ${other}`);
  const last = signature[63] ?? 0;
  if (publicKey.length === 32 && signature.length === 64 && (last & 0x60) === 0) {
    const raw = concat(signature.subarray(0, 63), Uint8Array.of(last & 0x7f));
    const key = withSign(edwardsOf([publicKey])[0]!, last & 0x80);
    if (!isWeakPublicKey(publicKey)) sameByTable(key, message, raw, ours!);
  }
  return ours!;
}

/** The same for plain Ed25519, where keys can be spelled in ways no converted key has. */
function edwardsVerdict(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const ours = sodium.crypto_sign_verify_detached(signature, message, key);
  const other = reference.verifyEdwards(key, message, signature);
  if (ours !== other) t.fail(`verdicts differ: libsodium ${ours}, reference ${other}`);
  sameByTable(key, message, signature, ours);
  return ours;
}

/** Keys get a table that libsodium takes: canonical ones of a point that is not of small order. */
function sameByTable(
  key: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
  expected: boolean,
): void {
  const y = withSign(key, 0);
  const isSmall = torsion.some((point) => equal(withSign(point.toBytes(), 0), y));
  if (toInteger(y) >= P || isSmall) return;
  if (tableChecks.tables.find(y) === undefined) tableChecks.tables.add(y, y);
  const table = tableChecks.tables.find(y);
  if (table === undefined) return; // No point has this y.
  byTable[String(expected) as 'true' | 'false'] += 1;
  const verdicts = tableChecks.add(table, key, message, signature)
    ? tableChecks.verdicts()
    : [false];
  if (verdicts[0] !== expected) t.fail(`verdicts differ: libsodium ${expected}, table ${verdicts}`);
}

t.test('tables took part', async (t) => {
  t.comment(JSON.stringify(byTable));
  t.ok(byTable.true > 20 && byTable.false > 500, JSON.stringify(byTable));
});

function schnorr(R: Uint8Array, A: Point, scalar: bigint, nonce: bigint, message: Uint8Array) {
  const h = challenge(R, A, message);
  return concat(R, fromInteger((nonce + h * scalar) % L));
}

function cofactorless(raw: Uint8Array, A: Point, message: Uint8Array): boolean {
  const R = Point.fromBytes(raw.subarray(0, 32), false);
  const h = challenge(raw.subarray(0, 32), A, message);
  const s = toInteger(raw.subarray(32));
  return Point.BASE.multiply(s).equals(R.add(A.multiplyUnsafe(h)));
}

function challenge(R: Uint8Array, A: Point, message: Uint8Array): bigint {
  const digest = sha512(R, A.toBytes(), message);
  return (toInteger(digest.subarray(0, 32)) + 2n ** 256n * toInteger(digest.subarray(32))) % L;
}

function montgomerySignature(raw: Uint8Array, A: Point): Uint8Array {
  const signature = raw.slice();
  signature[63]! |= A.toBytes()[31]! & 0x80;
  return signature;
}

function montgomeryU(A: Point): bigint {
  const { y } = A.toAffine();
  return Point.Fp.div(Point.Fp.add(1n, y), Point.Fp.sub(1n, y));
}

/** The multiples of L·X for an X whose small part has order eight. */
function pointsOfSmallOrder(): Point[] {
  for (;;) {
    let X: Point;
    try {
      X = Point.fromBytes(random.bytes(32), true);
    } catch {
      continue;
    }
    // (L − 1)·X + X, since the library takes no scalar as large as L.
    const generator = X.multiplyUnsafe(L - 1n).add(X);
    if (generator.double().double().equals(Point.ZERO)) continue;
    const points = [Point.ZERO];
    while (points.length < 8) points.push(points.at(-1)!.add(generator));
    return points;
  }
}

/** A copy whose top bit is the one of `sign`. */
function withSign(bytes: Uint8Array, sign: number): Uint8Array {
  const copy = bytes.slice();
  copy[31] = (copy[31]! & 0x7f) | (sign & 0x80);
  return copy;
}

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  return bytes.with(bit >> 3, bytes[bit >> 3]! ^ (1 << (bit & 7)));
}
