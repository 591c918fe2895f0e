// The national family against results of client libraries of the network.
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { utf8 } from '../../../src/base/bytes.ts';
import { createAddresses } from '../../../src/crypto/address.ts';
import { createGost } from '../../../src/crypto/gost/gost-family.ts';
import { familyB } from '../vector-file.ts';

const family = createGost();

for (const vector of familyB.keys) {
  t.test(vector.seedPhrase, async (t) => {
    const { privateKey, publicKey } = family.keyPairFromPhrase(vector.seedPhrase);
    t.equal(base58.encode(privateKey), vector.privateKey);
    t.equal(base58.encode(publicKey), vector.publicKey);
    t.strictSame(family.publicKeyOf(privateKey), publicKey);
    for (const [letter, text] of Object.entries(vector.addresses)) {
      const addresses = createAddresses(family, letter.charCodeAt(0));
      t.equal(addresses.textsOf(publicKey).address, text);
    }
    for (const { messageUtf8, hashBase58, signature, valid } of vector.signatures) {
      const message = utf8(messageUtf8);
      t.equal(base58.encode(family.fastHash(message)), hashBase58);
      t.equal(base58.encode(family.secureHash(message)), hashBase58);
      t.equal(family.verify(publicKey, message, base58.decode(signature)), valid);
    }
  });
}
