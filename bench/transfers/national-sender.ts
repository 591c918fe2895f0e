/** A sender of senders.ts in the national family, which also signs everything with the same nonce. */
import type { Sender } from '../../src/cli/load/transfers.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import { createFamily } from '../../src/crypto/families.ts';
import type { CryptoFamily } from '../../src/crypto/family.ts';
import { Q } from '../../src/crypto/gost/wasm/scalars.ts';

export const NATIONAL_KEY_BYTES = 64;
const NUMBER_BYTES = 32;
let family: CryptoFamily | undefined;

export function createNationalSender(phrase: string, scheme: ChainScheme): Sender {
  family ??= createFamily('gost');
  const { privateKey, publicKey } = family.keyPairFromPhrase(phrase);
  const nonce = family.keyPairFromPhrase(`${phrase}, nonce`);
  const k = integer(nonce.privateKey);
  const r = integer(nonce.publicKey.subarray(0, NUMBER_BYTES)) % Q;
  const rd = r * integer(privateKey);
  const sign = (message: Uint8Array): Uint8Array => {
    const signature = new Uint8Array(2 * NUMBER_BYTES);
    put(signature, 0, (rd + k * (integer(scheme.fastHash(message)) % Q)) % Q);
    put(signature, NUMBER_BYTES, r);
    return signature;
  };
  return { publicKey, address: scheme.addressOf(publicKey), sign };
}

/** Little-endian. */
const integer = (bytes: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);

/** Big-endian. */
const put = (target: Uint8Array, at: number, value: bigint): void =>
  target.set(Buffer.from(value.toString(16).padStart(2 * NUMBER_BYTES, '0'), 'hex'), at);
