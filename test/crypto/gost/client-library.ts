/** The cryptography of the network's clients in their national mode, as an independent oracle. */
import { createRequire } from 'node:module';

interface Engine {
  getGostDigest(algorithm: object): {
    digest(data: Uint8Array): ArrayBuffer;
    sign(key: ArrayBuffer, data: Uint8Array): ArrayBuffer;
  };
  getGostCipher(algorithm: object): { encrypt(key: ArrayBuffer, data: ArrayBuffer): ArrayBuffer };
  getGostSign(algorithm: object): {
    sign(privateKey: Uint8Array, data: Uint8Array): ArrayBuffer;
    verify(publicKey: Uint8Array, signature: Uint8Array, data: Uint8Array): boolean;
    deriveKey(privateKey: Uint8Array): ArrayBuffer;
  };
}

const require = createRequire(import.meta.url);
const path = '@wavesenterprise/crypto-gost-js/dist/CryptoGost';
const { GostEngine: engine } = require(path) as { GostEngine: Engine };

const hash = { name: 'GOST R 34.11', version: 2012, length: 256 };
const signatures = {
  name: 'GOST R 34.10',
  version: 2012,
  length: 256,
  namedCurve: 'S-256-A',
  procreator: 'CP',
  hash,
};
/** The library takes buffers, of which an array may be a part. */
const own = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer;
const copy = (bytes: Uint8Array): Uint8Array => new Uint8Array(own(bytes));

export const streebog256 = (message: Uint8Array): Uint8Array =>
  new Uint8Array(engine.getGostDigest(hash).digest(copy(message)));

export const hmac256 = (key: Uint8Array, message: Uint8Array): Uint8Array =>
  new Uint8Array(engine.getGostDigest({ ...hash, mode: 'HMAC' }).sign(own(key), copy(message)));

export const kuznyechikCounter = (
  key: Uint8Array,
  iv: Uint8Array,
  data: Uint8Array,
): Uint8Array => {
  const algorithm = { name: 'GOST R 34.12', version: 2015, length: 128, block: 'CTR', iv: own(iv) };
  return new Uint8Array(engine.getGostCipher(algorithm).encrypt(own(key), own(data)));
};

export const sign = (privateKey: Uint8Array, message: Uint8Array): Uint8Array =>
  new Uint8Array(engine.getGostSign(signatures).sign(copy(privateKey), copy(message)));

export const verify = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean =>
  engine.getGostSign(signatures).verify(copy(publicKey), copy(signature), copy(message));

export const agree = (
  privateKey: Uint8Array,
  publicKey: Uint8Array,
  material: Uint8Array,
): Uint8Array => {
  const algorithm = { ...signatures, mode: 'DH', ukm: own(material), public: own(publicKey) };
  return new Uint8Array(engine.getGostSign(algorithm).deriveKey(copy(privateKey)));
};
