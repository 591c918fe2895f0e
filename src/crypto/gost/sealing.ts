/**
 * Symmetric encryption of the national family (accounts.md#encryption-in-the-national-family): the
 * counter mode of Kuznyechik, authenticated with an HMAC of Streebog. No client of the network
 * encrypts messages in this family, so the layout is this node's own.
 */
import { timingSafeEqual } from 'node:crypto';
import { concat, utf8 } from '../../base/bytes.ts';
import type { Random } from '../../base/ports.ts';
import { COUNTER_IV_SIZE, type Kuznyechik } from './kuznyechik.ts';
import { DIGEST_BYTES, type Streebog } from './streebog.ts';

const ENCRYPTION = utf8('platform-node encryption');
const AUTHENTICATION = utf8('platform-node authentication');

export interface Sealing {
  /** iv(8) ‖ ciphertext ‖ tag(32) */
  seal(key: Uint8Array, plain: Uint8Array, random: Random): Uint8Array;
  open(key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined;
}

export function createSealing(streebog: Streebog, kuznyechik: Kuznyechik): Sealing {
  return {
    seal(key, plain, random) {
      const iv = random.bytes(COUNTER_IV_SIZE);
      const ciphertext = plain.slice();
      kuznyechik.applyCounter(streebog.deriveKey(key, ENCRYPTION, iv), iv, ciphertext);
      const tag = streebog.hmac256(streebog.deriveKey(key, AUTHENTICATION, iv), iv, ciphertext);
      return concat(iv, ciphertext, tag);
    },
    open(key, sealed) {
      const end = sealed.length - DIGEST_BYTES;
      if (end < COUNTER_IV_SIZE) return undefined;
      const iv = sealed.subarray(0, COUNTER_IV_SIZE);
      const authentication = streebog.deriveKey(key, AUTHENTICATION, iv);
      const tag = streebog.hmac256(authentication, sealed.subarray(0, end));
      if (!timingSafeEqual(tag, sealed.subarray(end))) return undefined;
      const plain = new Uint8Array(sealed.subarray(COUNTER_IV_SIZE, end));
      kuznyechik.applyCounter(streebog.deriveKey(key, ENCRYPTION, iv), iv, plain);
      return plain;
    },
  };
}
