/**
 * Accounts that sign transfers by the hundred thousand. Each account signs everything with the same
 * nonce, which saves the only costly step of a signature but reveals the key. For verification
 * these signatures are like any other. The keys own only test money.
 */
import sodium from 'sodium-native';
import { concat } from '../../src/base/bytes.ts';
import type { Sender } from '../../src/cli/load/transfers.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import { fromInteger, toInteger } from '../../src/crypto/curve25519/field.ts';
import { sha512 } from '../../src/crypto/curve25519/hashes.ts';
import { clamp, keyPairFromPhrase } from '../../src/crypto/curve25519/keys.ts';
import { createNationalSender, NATIONAL_KEY_BYTES } from './national-sender.ts';

/** Order of the base point. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const SIGN_BYTE = 63;
const SIGN_BIT = 0x80;

/** The same name gives the same accounts, in the family of cryptography that the scheme is for. */
export function createSenders(count: number, scheme: ChainScheme, name = 'bench sender'): Sender[] {
  const create = scheme.publicKeySize === NATIONAL_KEY_BYTES ? createNationalSender : createSender;
  return Array.from({ length: count }, (_, i) => create(`${name} ${i}`, scheme));
}

function createSender(phrase: string, scheme: ChainScheme): Sender {
  const { privateKey, publicKey } = keyPairFromPhrase(phrase);
  const scalar = toInteger(clamp(privateKey));
  const point = timesBase(clamp(privateKey));
  const nonce = modL(sha512(privateKey));
  const nonceInteger = toInteger(nonce);
  const noncePoint = timesBase(nonce);
  const sign = (message: Uint8Array): Uint8Array => {
    const challenge = toInteger(modL(sha512(noncePoint, point, message)));
    const signature = concat(noncePoint, fromInteger((nonceInteger + challenge * scalar) % L));
    signature[SIGN_BYTE]! |= point[31]! & SIGN_BIT;
    return signature;
  };
  return { publicKey, address: scheme.addressOf(publicKey), sign };
}

function timesBase(scalar: Uint8Array): Uint8Array {
  const point = new Uint8Array(32);
  sodium.crypto_scalarmult_ed25519_base_noclamp(point, scalar);
  return point;
}

function modL(wide: Uint8Array): Uint8Array {
  const reduced = new Uint8Array(32);
  sodium.crypto_core_ed25519_scalar_reduce(reduced, wide);
  return reduced;
}
