// A key that has signed often is checked by a table. That must not show in any verdict.
import { ed25519 } from '@noble/curves/ed25519.js';
import sodium from 'sodium-native';
import t from 'tap';
import { createCurve25519 } from '../../../src/crypto/curve25519/curve25519-family.ts';
import { EdwardsKeys } from '../../../src/crypto/curve25519/edwards-keys.ts';
import { edwardsOf } from '../../../src/crypto/curve25519/field.ts';
import { TableChecks } from '../../../src/crypto/curve25519/table-checks.ts';
import { SignatureVerification } from '../../../src/crypto/curve25519/verification.ts';
import { seededRandom } from '../random.ts';

const random = seededRandom('verification');
const family = createCurve25519();
const signers = Array.from({ length: 30 }, () => family.generateKeyPair(random));

function signedBy(n: number, isGood = true) {
  const { publicKey, privateKey } = signers[n]!;
  const message = random.bytes(1 + (random.bytes(1)[0]! % 300));
  const signature = family.sign(privateKey, message, random);
  if (!isGood) {
    const [at, bit] = random.bytes(2) as unknown as [number, number];
    signature[at % 64]! ^= 1 << (bit % 8);
  }
  return { publicKey, message, signature };
}

t.test('verdicts with tables that come and go', async (t) => {
  // One table for thirty keys, so that they replace one another.
  const verification = new SignatureVerification(8);
  const plain = new SignatureVerification(1);
  const byTable = calls(t, TableChecks.prototype, 'add');
  for (let round = 0; round < 60; round++) {
    const checks = Array.from({ length: 100 }, (_, i) => {
      const [kind, who] = random.bytes(2) as unknown as [number, number];
      return signedBy(
        (Math.floor(round / 2) + (who % (round % 6 === 5 ? signers.length : 1))) % signers.length,
        kind % 4 !== 0 || i === 0,
      );
    });
    const expected = checks.map((one) => plain.verify(one.publicKey, one.message, one.signature));
    t.same(verification.verifyAll(checks), expected);
    const one = checks[0]!;
    t.equal(verification.verify(one.publicKey, one.message, one.signature), true);
  }
  t.ok(byTable() > 2000, `${byTable()} checks by tables`);
});

t.test('keys that have signed seldom, or badly, get no table', async (t) => {
  const verification = new SignatureVerification(8192);
  const made = calls(t, TableChecks.prototype, 'add');
  for (let time = 0; time < 8; time++) {
    verification.verifyAll(signers.map((_, n) => signedBy(n)));
    if (time === 6) t.equal(made(), 0, 'checks by tables after seven good signatures each');
    for (let i = 0; i < 20; i++) {
      const { publicKey, message } = signedBy(0);
      verification.verify(publicKey, message, random.bytes(64));
    }
  }
  verification.verifyAll(signers.map((_, n) => signedBy(n)));
  t.ok(made() > 0, 'checks by tables afterwards');
});

t.test('keys that take turns do not drive one another out', async (t) => {
  const verification = new SignatureVerification(8 * 20);
  const checked = calls(t, sodium, 'crypto_sign_verify_detached');
  for (let time = 0; time < 8; time++) verification.verifyAll(signers.map((_, n) => signedBy(n)));
  t.equal(checked(), 8 * signers.length);
  for (let time = 0; time < 10; time++) verification.verifyAll(signers.map((_, n) => signedBy(n)));
  t.equal(checked(), 8 * 30 + 10 * 10, 'twenty tables for thirty keys');
  // Nobody has used the others for eight checks of each table.
  for (let time = 0; time < 160; time++) verification.verifyAll([signedBy(29)]);
  const before = checked();
  verification.verifyAll([signedBy(29)]);
  t.equal(checked(), before, 'it has a table');
});

t.test('long messages have the same verdicts', async (t) => {
  const verification = new SignatureVerification(8192);
  for (let time = 0; time < 20; time++) verification.verifyAll([signedBy(0), signedBy(1)]);
  const { publicKey, privateKey } = signers[0]!;
  for (const length of [8191, 8192, 8193, 100_000]) {
    const message = random.bytes(length);
    const signature = family.sign(privateKey, message, random);
    t.equal(verification.verify(publicKey, message, signature), true, `${length} bytes`);
    message[length - 1]! ^= 1;
    t.equal(verification.verify(publicKey, message, signature), false, `${length} other bytes`);
  }
});

t.test('an exception leaves no verdict for the next call', async (t) => {
  const verification = new SignatureVerification(8192);
  for (let time = 0; time < 20; time++) verification.verifyAll([signedBy(0)]);
  const good = signedBy(0);
  const thrown = {
    ...good,
    get message(): Uint8Array {
      throw new Error('unexpected');
    },
  };
  t.throws(() => verification.verifyAll([good, good, thrown]), /unexpected/);
  const forged = { ...good, message: random.bytes(9) };
  t.equal(verification.verify(forged.publicKey, forged.message, forged.signature), false);
  t.same(verification.verifyAll([forged, good, forged]), [false, true, false]);
});

t.test('without memory for tables libsodium checks all', async (t) => {
  const { Memory } = WebAssembly;
  const api = WebAssembly as { Memory: unknown };
  t.teardown(() => {
    api.Memory = Memory;
  });
  let asked = 0;
  api.Memory = class {
    constructor() {
      asked += 1;
      throw new RangeError('could not allocate memory');
    }
  };
  const verification = new SignatureVerification(8192);
  const checks = [signedBy(0), signedBy(1), signedBy(0, false)];
  const expected = checks.map((one) => family.verify(one.publicKey, one.message, one.signature));
  for (let time = 0; time < 40; time++) t.same(verification.verifyAll(checks), expected);
  t.equal(asked, 1, 'memory is asked for once');
});

t.test('a place belongs to one key', async (t) => {
  const { tables } = new TableChecks(2);
  const [one, two, three] = signers.map(({ publicKey }) => ({
    publicKey,
    y: edwardsOf([publicKey])[0]!,
  }));
  for (const { publicKey, y } of [one!, one!, two!]) tables.add(publicKey, y);
  t.not(tables.find(one!.publicKey)!.address, tables.find(two!.publicKey)!.address);
  tables.add(three!.publicKey, three!.y);
  t.equal(tables.find(three!.publicKey), undefined, 'no place is free');
  for (let check = 0; check < 14; check++) tables.find(two!.publicKey);
  tables.add(three!.publicKey, three!.y);
  t.equal(tables.find(one!.publicKey), undefined, 'the one used longest ago is gone');
  t.not(tables.find(two!.publicKey)!.address, tables.find(three!.publicKey)!.address);
});

t.test('a key without a point gets no table', async (t) => {
  const { tables } = new TableChecks(30);
  const keys = Array.from({ length: 20 }, (_, i) => Uint8Array.of(i + 2, ...new Uint8Array(31)));
  for (const key of keys) tables.add(key, key);
  const found = keys.filter((key) => tables.find(key) !== undefined).map(([y]) => y);
  const points = keys.map(([y]) => y!).filter((y) => hasPoint(BigInt(y)));
  t.same(found, points);
  t.ok(points.length > 5 && points.length < 15);
});

t.test('the count of a key begins anew with its place', async (t) => {
  const keys = new EdwardsKeys(8);
  const [key, ...others] = Array.from({ length: 60 }, () => random.bytes(32));
  t.equal(keys.count(key!), 0, 'a key that is not known');
  keys.add(key!, key!);
  t.same([keys.count(key!), keys.count(key!)], [1, 2]);
  for (const other of others) keys.add(other, other);
  keys.add(key!, key!);
  t.equal(keys.count(key!), 1);
  for (let time = 0; time < 300; time++) keys.count(key!);
  t.equal(keys.count(key!), 255);
});

/** How often a method is called. */
function calls<Name extends string>(
  t: { teardown(end: () => void): void },
  of: Record<Name, unknown>,
  name: Name,
): () => number {
  let count = 0;
  const method = of[name] as (...args: unknown[]) => unknown;
  of[name] = function counted(this: unknown, ...args: unknown[]) {
    count += 1;
    return method.apply(this, args);
  };
  t.teardown(() => {
    of[name] = method;
  });
  return () => count;
}

/** Whether (y² − 1) / (d y² + 1) is a square, by Euler's criterion. */
function hasPoint(y: bigint): boolean {
  const { Fp } = ed25519.Point;
  const { d } = ed25519.Point.CURVE();
  const x2 = Fp.div(Fp.sub(Fp.sqr(y), 1n), Fp.add(Fp.mul(d, Fp.sqr(y)), 1n));
  return Fp.eql(Fp.pow(x2, (Fp.ORDER - 1n) / 2n), 1n);
}
