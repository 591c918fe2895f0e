// The test vectors of the standards. Those of signatures and of key agreement are on other curves
// than the network's; they check the reference, and differential.test.ts compares it with the family.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { decodeHex, encodeHex } from '../../../src/base/hex.ts';
import { createKuznyechik } from '../../../src/crypto/gost/kuznyechik.ts';
import { createStreebog } from '../../../src/crypto/gost/streebog.ts';
import { createEngine } from '../../../src/crypto/gost/wasm/engine.ts';
import { type Curve, integer, referenceOf } from './reference.ts';

const url = new URL('../../vectors/gost-standards.json', import.meta.url);
const vectors = JSON.parse(readFileSync(url, 'utf8'));
const engine = createEngine(0);
const streebog = createStreebog(engine);
const kuznyechik = createKuznyechik(engine);

const number = (hex: string): bigint => BigInt(`0x${hex}`);
const curveOf = (texts: Record<keyof Curve, string>): Curve => ({
  p: number(texts.p),
  a: number(texts.a),
  b: number(texts.b),
  q: number(texts.q),
  x: number(texts.x),
  y: number(texts.y),
});

t.test('Streebog, RFC 6986', async (t) => {
  for (const { messageHex, hash256Hex, hash512Hex } of vectors.streebog) {
    const message = decodeHex(messageHex);
    t.equal(encodeHex(streebog.hash256(message)), hash256Hex);
    t.equal(encodeHex(streebog.hash512(message)), hash512Hex);
  }
});

t.test('HMAC and derivation of keys, RFC 7836', async (t) => {
  const { hmac, kdf } = vectors;
  const code = streebog.hmac256(decodeHex(hmac.keyHex), decodeHex(hmac.messageHex));
  t.equal(encodeHex(code), hmac.hmac256Hex);
  const [key, label, seed] = [kdf.keyHex, kdf.labelHex, kdf.seedHex].map(decodeHex);
  t.equal(encodeHex(streebog.deriveKey(key!, label!, seed!)), kdf.derivedHex);
});

t.test('Kuznyechik, RFC 7801 and GOST R 34.13-2015', async (t) => {
  const { keyHex, plainHex, cipherHex, counter } = vectors.kuznyechik;
  const key = decodeHex(keyHex);
  t.equal(encodeHex(kuznyechik.encryptBlock(key, decodeHex(plainHex))), cipherHex);
  const data = decodeHex(counter.plainHex);
  kuznyechik.applyCounter(key, decodeHex(counter.ivHex), data);
  t.equal(encodeHex(data), counter.cipherHex);
});

t.test('the reference: signatures, RFC 7091', async (t) => {
  const { signature } = vectors;
  const reference = referenceOf(curveOf(signature.curve));
  const [d, e, k, r, s] = (['privateKey', 'e', 'k', 'r', 's'] as const).map((name) =>
    number(signature[name]),
  ) as [bigint, bigint, bigint, bigint, bigint];
  const publicKey = reference.publicKeyOf(d);
  t.equal(integer(publicKey.subarray(0, 32)), number(signature.publicX));
  t.equal(integer(publicKey.subarray(32)), number(signature.publicY));
  t.strictSame(reference.signHash(d, e, k), { r, s });
  t.ok(reference.verifyHash(publicKey, e, r, s));
  t.notOk(reference.verifyHash(publicKey, e + 1n, r, s));
});

t.test('the reference: VKO, RFC 7836', async (t) => {
  const { vko } = vectors;
  const reference = referenceOf(curveOf(vko.curve));
  const [a, b] = [vko.privateAHex, vko.privateBHex].map((hex) => integer(decodeHex(hex)));
  const [publicA, publicB] = [vko.publicAHex, vko.publicBHex].map(decodeHex);
  const material = integer(decodeHex(vko.materialHex));
  t.strictSame(reference.publicKeyOf(a!), publicA);
  t.strictSame(reference.publicKeyOf(b!), publicB);
  t.equal(encodeHex(reference.agree(a!, publicB!, material)), vko.sharedHex);
  t.equal(encodeHex(reference.agree(b!, publicA!, material)), vko.sharedHex);
});
