import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { utf8 } from '../../src/base/bytes.ts';
import { ApiError } from '../../src/base/errors.ts';
import { createAddresses } from '../../src/crypto/address.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { createCurve25519 } from '../../src/crypto/curve25519/curve25519-family.ts';
import { familyA } from './vector-file.ts';

const family = createCurve25519();
const T = 'T'.charCodeAt(0);
const text = familyA.keys[0]!.addresses['T']!;
const bytes = base58.decode(text);
const changed = (at: number, value: number) => bytes.with(at, value);

t.test('texts of this network, with and without prefix', async (t) => {
  const addresses = createAddresses(family, T);
  for (const form of [text, `address:${text}`, text]) {
    t.strictSame(addresses.fromText(form), bytes);
  }
  t.equal(addresses.toText(bytes), text);
  t.equal(addresses.toText(bytes.slice()), text);
  t.equal(addresses.problem(bytes), undefined);
  t.equal(addresses.problem(bytes.slice()), undefined, 'and from memory');
});

t.test('reasons, in the order of the checks', async (t) => {
  const addresses = createAddresses(family, T);
  const reason = (input: string | Uint8Array) => {
    try {
      addresses.fromText(typeof input === 'string' ? input : base58.encode(input));
      return undefined;
    } catch (cause) {
      return (cause as Error).message.replace('invalid address: ', '');
    }
  };

  t.equal(reason('1'.repeat(37)), 'Wrong address string length: max=36, actual: 37');
  t.equal(reason(`address:${'0'.repeat(40)}`), 'Wrong address string length: max=36, actual: 40');
  t.match(reason('0OIl'), /^Unable to decode base58: Wrong char '0'/);
  t.match(reason(text.replace('3', 'é')), /^Unable to decode base58: /);
  t.equal(reason(changed(0, 2)), 'Unknown address version: 2');
  t.equal(reason(changed(0, 2).subarray(0, 5)), 'Unknown address version: 2', 'before length');
  t.equal(
    reason(familyA.keys[0]!.addresses['W']!),
    'Data from other network: expected: 84(T), actual: 87(W)',
  );
  t.equal(
    reason(changed(1, 87).subarray(0, 20)),
    'Data from other network: expected: 84(T), actual: 87(W)',
  );
  t.equal(reason(''), 'Wrong addressBytes length: expected: 26, actual: 0');
  t.equal(reason(bytes.subarray(0, 1)), 'Wrong addressBytes length: expected: 26, actual: 1');
  t.equal(reason(bytes.subarray(0, 25)), 'Wrong addressBytes length: expected: 26, actual: 25');
  for (const at of [2, 21, 22, 25])
    t.equal(reason(changed(at, bytes[at]! ^ 1)), 'Bad address checksum');
  t.equal(reason(text), undefined);
});

t.test('a wrong text stays wrong however often it is asked for', async (t) => {
  const addresses = createAddresses(family, T);
  const wrong = changed(25, bytes[25]! ^ 1);
  t.equal(addresses.toText(wrong), base58.encode(wrong), 'spelling is not judging');
  for (let i = 0; i < 3; i++) {
    t.equal(addresses.problem(wrong), 'Bad address checksum');
    t.throws(() => addresses.fromText(base58.encode(wrong)), ApiError);
  }
});

t.test('the error of the catalogue', async (t) => {
  const addresses = createAddresses(family, T);
  t.throws(() => addresses.fromText('x'), {
    message: 'invalid address: Unknown address version: 55',
  });
});

t.test('memory is bounded and forgets without harm', async (t) => {
  const addresses = createAddresses(family, T, 4);
  const keys = Array.from({ length: 40 }, (_, i) => family.fastHash(utf8(String(i))));
  const texts = keys.map((key) => addresses.textsOf(key).address);
  t.equal(new Set(texts).size, keys.length);
  for (const [i, key] of keys.entries()) {
    t.equal(addresses.textsOf(key).address, texts[i]);
    t.strictSame(addresses.fromText(texts[i]!), addresses.ofPublicKey(key));
  }
});

t.test('what codecs ask for', async (t) => {
  const scheme = createChainScheme(family, T);
  const publicKey = base58.decode(familyA.keys[0]!.publicKey);
  t.equal(scheme.chainId, T);
  t.equal(scheme.publicKeySize, 32);
  t.strictSame(scheme.addressOf(publicKey), bytes);
  t.equal(scheme.addressToText(bytes), text);
  t.strictSame(scheme.addressFromText(text), bytes);
  t.equal(scheme.addressProblem(changed(0, 9)), 'Unknown address version: 9');
});
