import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { utf8 } from '../../src/base/bytes.ts';
import { createCurve25519 } from '../../src/crypto/curve25519/curve25519-family.ts';
import { decryptText, encryptCommon, encryptSeparate } from '../../src/crypto/envelope.ts';
import { CryptoError } from '../../src/crypto/family.ts';
import { decrypt } from './decrypt.ts';
import { seededRandom } from './random.ts';

const family = createCurve25519();
const random = seededRandom('encryption');
const sender = family.generateKeyPair(random);
const recipients = [1, 2, 3].map(() => family.generateKeyPair(random));
const stranger = family.generateKeyPair(random);
const publicKeys = recipients.map(({ publicKey }) => publicKey);
const weak = new Uint8Array(32);

t.test('separate: every recipient opens the own envelope and no other', async (t) => {
  const plain = random.bytes(1000);
  const envelopes = await encryptSeparate(family, sender.privateKey, publicKeys, plain, random);
  t.equal(envelopes.length, 3);
  for (const [i, envelope] of envelopes.entries()) {
    t.equal(envelope.wrappedKey.length, 48);
    t.equal(envelope.sealed.length, plain.length + 32);
    for (const [j, { privateKey }] of recipients.entries()) {
      const opened = decrypt(family, privateKey, sender.publicKey, envelope);
      t.strictSame(opened, i === j ? plain : undefined);
    }
  }
  t.notSame(envelopes[0]!.sealed, envelopes[1]!.sealed);
});

t.test('common: one ciphertext for all', async (t) => {
  const plain = utf8('тайна');
  const group = await encryptCommon(family, sender.privateKey, publicKeys, plain, random);
  for (const [i, { privateKey }] of recipients.entries()) {
    const envelope = { sealed: group.sealed, wrappedKey: group.wrappedKeys[i]! };
    t.strictSame(decrypt(family, privateKey, sender.publicKey, envelope), plain);
    t.equal(decrypt(family, privateKey, stranger.publicKey, envelope), undefined);
  }
  const nobody = await encryptCommon(family, sender.privateKey, [], plain, random);
  t.strictSame(nobody.wrappedKeys, []);
});

t.test('nothing but the whole opens', async (t) => {
  const [envelope] = await encryptSeparate(
    family,
    sender.privateKey,
    publicKeys,
    utf8('secret'),
    random,
  );
  const { sealed, wrappedKey } = envelope!;
  const open = (changed: object) =>
    decrypt(family, recipients[0]!.privateKey, sender.publicKey, { ...envelope!, ...changed });
  t.ok(open({}));
  for (let i = 0; i < sealed.length; i++) {
    if (open({ sealed: flipped(sealed, i) }) !== undefined) t.fail(`sealed byte ${i}`);
    if (open({ sealed: sealed.subarray(0, i) }) !== undefined) t.fail(`sealed cut at ${i}`);
  }
  for (let i = 0; i < wrappedKey.length; i++) {
    if (open({ wrappedKey: flipped(wrappedKey, i) }) !== undefined) t.fail(`wrapped byte ${i}`);
    if (open({ wrappedKey: wrappedKey.subarray(0, i) }) !== undefined)
      t.fail(`wrapped cut at ${i}`);
  }
});

t.test('a wrapped key of another size is none', async (t) => {
  const { privateKey, publicKey } = recipients[0]!;
  const wrapped = family.wrapKey(sender.privateKey, publicKey, random.bytes(17), random);
  t.equal(family.unwrapKey(privateKey, sender.publicKey, wrapped), undefined);
});

t.test('weak and malformed keys', async (t) => {
  const { privateKey } = sender;
  t.throws(() => family.agree(privateKey, weak), CryptoError);
  t.throws(() => family.agree(privateKey, new Uint8Array(31)), CryptoError);
  t.throws(() => family.agree(new Uint8Array(31), stranger.publicKey), CryptoError);
  t.throws(() => family.publicKeyOf(new Uint8Array(33)), CryptoError);
  await t.rejects(encryptSeparate(family, privateKey, [weak], weak, random), CryptoError);
  t.equal(family.unwrapKey(privateKey, weak, random.bytes(48)), undefined);
});

t.test('text forms', async (t) => {
  const [{ sealed, wrappedKey }] = (await encryptSeparate(
    family,
    sender.privateKey,
    publicKeys,
    utf8('text'),
    random,
  )) as [{ sealed: Uint8Array; wrappedKey: Uint8Array }];
  const open = (encrypted: string, wrapped = base58.encode(wrappedKey)) =>
    decryptText(family, recipients[0]!.privateKey, sender.publicKey, encrypted, wrapped);
  t.strictSame(open(Buffer.from(sealed).toString('base64')), utf8('text'));
  t.strictSame(open(base58.encode(sealed)), utf8('text'));
  for (const bad of ['', 'a', '###', 'AAAA', `${base58.encode(sealed)}1`, 'z'.repeat(300_000)]) {
    t.equal(open(bad), undefined);
  }
  t.equal(open(base58.encode(sealed), '0OIl'), undefined);
  t.equal(open(base58.encode(sealed), 'z'.repeat(5000)), undefined);
});

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice();
  copy[at]! ^= 1;
  return copy;
}
