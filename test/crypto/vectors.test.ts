// The international family against results of client libraries of the network.
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { fromUtf8 } from '../../src/base/bytes.ts';
import { decodeHex, encodeHex } from '../../src/base/hex.ts';
import { createAddresses } from '../../src/crypto/address.ts';
import { createCurve25519 } from '../../src/crypto/curve25519/curve25519-family.ts';
import { decryptText } from '../../src/crypto/envelope.ts';
import * as reference from './curve25519-reference.ts';
import { decrypt } from './decrypt.ts';
import { seededRandom } from './random.ts';
import { familyA } from './vector-file.ts';

const family = createCurve25519();

t.test('keys and addresses', async (t) => {
  for (const vector of familyA.keys) {
    const { privateKey, publicKey } = family.keyPairFromPhrase(vector.seedPhrase);
    t.equal(base58.encode(privateKey), vector.privateKey);
    t.equal(base58.encode(publicKey), vector.publicKey);
    t.strictSame(family.publicKeyOf(privateKey), publicKey);
    t.strictSame(
      family.keyPairFromSeed(family.accountSeed(vector.seedPhrase)).publicKey,
      publicKey,
    );
    for (const [letter, text] of Object.entries(vector.addresses)) {
      const addresses = createAddresses(family, letter.charCodeAt(0));
      t.equal(addresses.textsOf(publicKey).address, text);
      t.strictSame(addresses.ofPublicKey(publicKey), base58.decode(text));
    }
  }
});

t.test('hashes', async (t) => {
  for (const vector of familyA.hashes) {
    const message = decodeHex(vector.inputHex);
    for (const hashes of [family, reference]) {
      t.equal(encodeHex(hashes.fastHash(message)), vector.fastHashHex);
      t.equal(encodeHex(hashes.secureHash(message)), vector.secureHashHex);
    }
    t.equal(base58.encode(family.fastHash(message)), vector.fastHashBase58);
    t.equal(base58.encode(family.secureHash(message)), vector.secureHashBase58);
  }
});

t.test('signatures', async (t) => {
  t.ok(familyA.signatures.some((vector) => vector.signBit === 1 && vector.valid));
  t.ok(familyA.signatures.some((vector) => vector.signBit === 0 && vector.valid));
  for (const vector of familyA.signatures) {
    const publicKey = base58.decode(vector.publicKey);
    const message = decodeHex(vector.messageHex);
    const signature = base58.decode(vector.signature);
    t.equal(signature[63]! >> 7, vector.signBit);
    t.equal(family.verify(publicKey, message, signature), vector.valid, vector.library);
    t.equal(reference.verify(publicKey, message, signature), vector.valid, vector.library);
  }
});

t.test('our own signatures verify; no two are alike; the nonce is as specified', async (t) => {
  const random = seededRandom('signatures');
  for (const vector of familyA.keys) {
    const { privateKey, publicKey } = family.keyPairFromPhrase(vector.seedPhrase);
    const message = random.bytes(100);
    const signature = family.sign(privateKey, message, random);
    t.ok(family.verify(publicKey, message, signature));
    t.notSame(family.sign(privateKey, message, random), signature);
    const noise = random.bytes(64);
    const fixed = family.sign(privateKey, message, { bytes: () => noise });
    t.strictSame(fixed, reference.sign(privateKey, message, noise));
    t.ok(
      family.verify(
        publicKey,
        new Uint8Array(0),
        family.sign(privateKey, new Uint8Array(0), random),
      ),
    );
  }
});

t.test('encryption', async (t) => {
  for (const vector of familyA.encryption) {
    const sender = base58.decode(vector.senderPublicKey);
    const sealed = Buffer.from(vector.encryptedTextBase64, 'base64');
    if (vector.mode === 'separate') {
      const recipientKey = base58.decode(vector.recipientPrivateKey);
      const senderKey = base58.decode(vector.senderPrivateKey);
      const recipient = base58.decode(vector.recipientPublicKey);
      t.equal(encodeHex(family.agree(recipientKey, sender)), vector.sharedSecretHex);
      t.equal(encodeHex(family.agree(senderKey, recipient)), vector.sharedSecretHex);
      t.equal(encodeHex(reference.agree(senderKey, recipient)), vector.sharedSecretHex);
      const wrappedKey = base58.decode(vector.wrappedKeyBase58);
      t.equal(text(decrypt(family, recipientKey, sender, { sealed, wrappedKey })), vector.text);
      for (const encrypted of [vector.encryptedTextBase64, vector.encryptedTextBase58]) {
        const plain = decryptText(family, recipientKey, sender, encrypted, vector.wrappedKeyBase58);
        t.equal(text(plain), vector.text, 'either text form');
      }
    } else {
      for (const [recipient, wrapped] of Object.entries(vector.recipientToWrappedStructure)) {
        const recipientKey = base58.decode(vector.recipientPrivateKeys[recipient]!);
        const wrappedKey = base58.decode(wrapped);
        t.equal(text(decrypt(family, recipientKey, sender, { sealed, wrappedKey })), vector.text);
      }
    }
  }
});

const text = (bytes: Uint8Array | undefined) => bytes && fromUtf8(bytes);
