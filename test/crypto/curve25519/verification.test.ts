// A key that has signed often is checked by a table. That must not show in any verdict.
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
  // Three tables for thirty keys, so that they replace one another.
  const verification = new SignatureVerification(24);
  const plain = new SignatureVerification(1);
  const byTable = calls(t, TableChecks.prototype, 'add');
  for (let round = 0; round < 60; round++) {
    const checks = Array.from({ length: 100 }, (_, i) => {
      const [kind, who] = random.bytes(2) as unknown as [number, number];
      return signedBy(who % (round < 30 ? 3 : signers.length), kind % 4 !== 0 || i === 0);
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

t.test('one check of eight at most makes a table', async (t) => {
  const verification = new SignatureVerification(8192);
  const checked = calls(t, sodium, 'crypto_sign_verify_detached');
  for (let time = 0; time < 20; time++) verification.verifyAll(signers.map((_, n) => signedBy(n)));
  t.ok(checked() >= 8 * signers.length, `${checked()} checks by libsodium for 30 tables`);
});

t.test('a key without a point gets no table', async (t) => {
  const { tables } = new TableChecks(2);
  const [y] = edwardsOf([Uint8Array.of(3, ...new Uint8Array(31))]);
  const keys = Array.from({ length: 20 }, (_, i) => Uint8Array.of(i + 2, ...new Uint8Array(31)));
  for (const key of keys) tables.add(key, key);
  const found = keys.filter((key) => tables.find(key) !== undefined);
  t.equal(found.length, 2, 'the last two points');
  t.ok(y);
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
