/** Requirements for every cryptography family (src/crypto/family.ts), run against each of them. */
import type { Test } from 'tap';
import { concat, utf8 } from '../../src/base/bytes.ts';
import { DIGEST_BYTES, SIGNATURE_BYTES } from '../../src/base/sizes.ts';
import type { FamilyOptions } from '../../src/crypto/families.ts';
import { CryptoError, type CryptoFamily } from '../../src/crypto/family.ts';
import { seededRandom } from '../crypto/random.ts';

type Create = (options?: FamilyOptions) => CryptoFamily;

const PHRASE = 'чернила window ほし';
const MESSAGES = [0, 1, 63, 64, 65, 1000].map((size) => seededRandom('messages').bytes(size));

export function familyCompliance(t: Test, name: string, create: Create): void {
  t.test(name, async (t) => {
    const family = create();
    await keys(t, family, name);
    await hashes(t, family);
    await signatures(t, family);
    await preparation(t, create);
    await agreement(t, family);
    await encryption(t, family);
    await pieces(t, family);
  });
}

function keys(t: Test, family: CryptoFamily, name: string) {
  const random = seededRandom('keys');
  return t.test('keys', async (t) => {
    t.equal(family.name, name);
    const { privateKey, publicKey } = family.keyPairFromPhrase(PHRASE);
    t.equal(publicKey.length, family.publicKeySize);
    t.strictSame(family.publicKeyOf(privateKey), publicKey);
    t.strictSame(family.keyPairFromPhrase(PHRASE, 0).publicKey, publicKey, 'number 0');
    t.notSame(family.keyPairFromPhrase(PHRASE, 1).publicKey, publicKey, 'number 1');
    t.notSame(family.keyPairFromPhrase(`${PHRASE} `).publicKey, publicKey, 'another phrase');
    for (const nonce of [undefined, 3]) {
      const seed = family.accountSeed(PHRASE, nonce);
      t.strictSame(family.keyPairFromSeed(seed), family.keyPairFromPhrase(PHRASE, nonce));
    }
    const made = [0, 1].map(() => family.generateKeyPair(random));
    t.notSame(made[0], made[1]);
    for (const pair of made) {
      t.strictSame(family.publicKeyOf(pair.privateKey), pair.publicKey);
      t.notOk(family.isWeakPublicKey(pair.publicKey));
    }
    t.throws(() => family.publicKeyOf(privateKey.subarray(1)), CryptoError);
    t.notOk(family.isWeakPublicKey(publicKey.subarray(1)), 'a wrong size is not weak');
    publicKey.fill(0);
    t.notSame(family.publicKeyOf(privateKey), publicKey, 'a result is a copy');
  });
}

function hashes(t: Test, family: CryptoFamily) {
  return t.test('hashes', async (t) => {
    for (const hash of [family.fastHash, family.secureHash]) {
      const texts = MESSAGES.map((message) => {
        const digest = hash(message);
        t.equal(digest.length, DIGEST_BYTES);
        const first = digest.slice();
        digest.fill(0);
        t.strictSame(hash(message), first, 'a result is a copy, and follows from the message');
        return first.join();
      });
      t.equal(new Set(texts).size, MESSAGES.length);
    }
  });
}

/** What `verify` remembers of keys must not show in its verdicts. */
function preparation(t: Test, create: Create) {
  const random = seededRandom('preparation');
  return t.test('preparation', async (t) => {
    const signed = Array.from({ length: 40 }, () => {
      const { privateKey, publicKey } = create().generateKeyPair(random);
      const message = random.bytes(100);
      return { publicKey, message, signature: create().sign(privateKey, message, random) };
    });
    const publicKeys = signed.map(({ publicKey }) => publicKey);
    const checks = signed.flatMap((check, i) => [
      check,
      { ...check, publicKey: publicKeys.at(i - 1)! },
      { ...check, publicKey: new Uint8Array(0) },
      { ...check, publicKey: check.publicKey.subarray(1) },
      { ...check, signature: check.signature.subarray(1) },
    ]);
    const verdicts = checks.map((_, i) => i % 5 === 0);
    for (const cachedKeys of [1, 8, 1000]) {
      const family = create({ cachedKeys });
      // A key that has signed often is checked in another way.
      for (let time = 0; time < 12; time++) t.same(family.verifyAll(checks), verdicts);
      for (const [i, { publicKey, message, signature }] of checks.entries()) {
        if (family.verify(publicKey, message, signature) !== verdicts[i]) t.fail(`check ${i}`);
      }
      t.same(family.verifyAll([]), []);
    }
  });
}

function signatures(t: Test, family: CryptoFamily) {
  const random = seededRandom('signatures');
  return t.test('signatures', async (t) => {
    t.equal(family.signatureSize, SIGNATURE_BYTES);
    const pairs = [0, 1, 2].map(() => family.generateKeyPair(random));
    for (const { privateKey, publicKey } of pairs) {
      for (const message of MESSAGES) {
        const signature = family.sign(privateKey, message, random);
        t.equal(signature.length, SIGNATURE_BYTES);
        t.ok(family.verify(publicKey, message, signature));
        t.notOk(family.verify(publicKey, concat(message, utf8('!')), signature), 'longer');
        t.notSame(family.sign(privateKey, message, random), signature, 'randomised');
      }
    }
    const [{ privateKey, publicKey }, other] = [pairs[0]!, pairs[1]!];
    const message = MESSAGES.at(-1)!;
    const signature = family.sign(privateKey, message, random);
    t.notOk(family.verify(other.publicKey, message, signature), 'another key');
    for (let i = 0; i < SIGNATURE_BYTES; i++) {
      if (family.verify(publicKey, message, flipped(signature, i))) t.fail(`byte ${i}`);
    }
    for (const bad of [new Uint8Array(0), signature.subarray(1), new Uint8Array(SIGNATURE_BYTES)]) {
      t.equal(family.verify(publicKey, message, bad), false, 'never an error');
    }
    for (const bad of [new Uint8Array(0), publicKey.subarray(1), concat(publicKey, publicKey)]) {
      t.equal(family.verify(bad, message, signature), false, 'never an error');
    }
    t.throws(() => family.sign(privateKey.subarray(1), message, random), CryptoError);
  });
}

function agreement(t: Test, family: CryptoFamily) {
  const random = seededRandom('agreement');
  return t.test('agreement', async (t) => {
    const alice = family.generateKeyPair(random);
    const bob = family.generateKeyPair(random);
    const eve = family.generateKeyPair(random);
    const secret = family.agree(alice.privateKey, bob.publicKey);
    t.strictSame(family.agree(bob.privateKey, alice.publicKey), secret, 'from both sides');
    t.notSame(family.agree(eve.privateKey, alice.publicKey), secret);
    t.throws(() => family.agree(alice.privateKey.subarray(1), bob.publicKey), CryptoError);
    t.throws(() => family.agree(alice.privateKey, bob.publicKey.subarray(1)), CryptoError);

    const contentKey = random.bytes(family.contentKeySize);
    const wrapped = family.wrapKey(alice.privateKey, bob.publicKey, contentKey, random);
    const unwrap = (bytes: Uint8Array) => family.unwrapKey(bob.privateKey, alice.publicKey, bytes);
    t.strictSame(unwrap(wrapped), contentKey);
    t.notSame(family.wrapKey(alice.privateKey, bob.publicKey, contentKey, random), wrapped);
    t.equal(family.unwrapKey(eve.privateKey, alice.publicKey, wrapped), undefined, 'not for her');
    t.equal(family.unwrapKey(bob.privateKey, eve.publicKey, wrapped), undefined, 'not from her');
    t.equal(family.unwrapKey(bob.privateKey, alice.publicKey.subarray(1), wrapped), undefined);
    for (let i = 0; i < wrapped.length; i++) {
      if (unwrap(flipped(wrapped, i)) !== undefined) t.fail(`byte ${i}`);
      if (unwrap(wrapped.subarray(0, i)) !== undefined) t.fail(`cut at ${i}`);
    }
  });
}

function encryption(t: Test, family: CryptoFamily) {
  const random = seededRandom('encryption');
  return t.test('encryption', async (t) => {
    const key = random.bytes(family.contentKeySize);
    for (const plain of MESSAGES) {
      const before = plain.slice();
      const sealed = family.seal(key, plain, random);
      t.strictSame(plain, before, 'the argument stays as it was');
      t.strictSame(family.open(key, sealed), plain);
      t.notSame(family.seal(key, plain, random), sealed, 'randomised');
    }
    const sealed = family.seal(key, MESSAGES[2]!, random);
    t.equal(family.open(random.bytes(family.contentKeySize), sealed), undefined, 'another key');
    for (let i = 0; i < sealed.length; i++) {
      if (family.open(key, flipped(sealed, i)) !== undefined) t.fail(`byte ${i}`);
      if (family.open(key, sealed.subarray(0, i)) !== undefined) t.fail(`cut at ${i}`);
    }
  });
}

function pieces(t: Test, family: CryptoFamily) {
  const random = seededRandom('pieces');
  return t.test('pieces of a stream', async (t) => {
    const [key, nonce, associated] = [random.bytes(32), random.bytes(12), random.bytes(70)];
    for (const plain of MESSAGES) {
      const sealed = family.sealPiece(key, nonce, plain, associated);
      t.equal(sealed.length, plain.length + 16);
      t.strictSame(Uint8Array.from(family.openPiece(key, nonce, sealed, associated)!), plain);
    }
    const sealed = family.sealPiece(key, nonce, MESSAGES[2]!, associated);
    const open = (k: Uint8Array, n: Uint8Array, bytes: Uint8Array, other = associated) =>
      family.openPiece(k, n, bytes, other);
    t.equal(open(flipped(key, 0), nonce, sealed), undefined, 'another key');
    t.equal(open(key, flipped(nonce, 11), sealed), undefined, 'another place in the stream');
    t.equal(open(key, nonce, sealed, flipped(associated, 0)), undefined, 'another stream');
    t.equal(open(key, nonce, sealed, new Uint8Array(0)), undefined);
    for (let i = 0; i < sealed.length; i++) {
      if (open(key, nonce, flipped(sealed, i)) !== undefined) t.fail(`byte ${i}`);
      if (open(key, nonce, sealed.subarray(0, i)) !== undefined) t.fail(`cut at ${i}`);
    }
  });
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice();
  copy[at]! ^= 1;
  return copy;
}
