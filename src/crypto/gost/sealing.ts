/**
 * Symmetric encryption of the national family (accounts.md#encryption-in-the-national-family): the
 * counter mode of Kuznyechik, authenticated with an HMAC of Streebog. No client of the network
 * encrypts messages in this family, so the layout is this node's own.
 */
import { timingSafeEqual } from 'node:crypto';
import { concat, utf8 } from '../../base/bytes.ts';
import type { Random } from '../../base/ports/random.ts';
import type { CryptoFamily } from '../family.ts';
import { COUNTER_IV_SIZE, type Kuznyechik } from './kuznyechik.ts';
import { DIGEST_BYTES, type Streebog } from './streebog.ts';

const ENCRYPTION = utf8('platform-node encryption');
const AUTHENTICATION = utf8('platform-node authentication');
const PIECE_ENCRYPTION = utf8('platform-node encryption of a piece');
const PIECE_AUTHENTICATION = utf8('platform-node authentication of a piece');
/** The first half of an HMAC. */
const PIECE_TAG_SIZE = 16;
/** Each piece has keys of its own. */
const NO_IV = new Uint8Array(COUNTER_IV_SIZE);

export interface Sealing {
  /** iv(8) ‖ ciphertext ‖ tag(32) */
  seal(key: Uint8Array, plain: Uint8Array, random: Random): Uint8Array;
  open(key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined;
  /** ciphertext ‖ tag(16) */
  readonly sealPiece: CryptoFamily['sealPiece'];
  readonly openPiece: CryptoFamily['openPiece'];
}

export function createSealing(streebog: Streebog, kuznyechik: Kuznyechik): Sealing {
  function pieceTag(
    key: Uint8Array,
    nonce: Uint8Array,
    ciphertext: Uint8Array,
    associated: Uint8Array,
  ): Uint8Array {
    const size = new Uint8Array(4);
    new DataView(size.buffer).setUint32(0, associated.length);
    const own = streebog.deriveKey(key, PIECE_AUTHENTICATION, nonce);
    return streebog.hmac256(own, size, associated, ciphertext).subarray(0, PIECE_TAG_SIZE);
  }

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
    sealPiece(key, nonce, plain, associated) {
      const ciphertext = new Uint8Array(plain);
      kuznyechik.applyCounter(streebog.deriveKey(key, PIECE_ENCRYPTION, nonce), NO_IV, ciphertext);
      return concat(ciphertext, pieceTag(key, nonce, ciphertext, associated));
    },
    openPiece(key, nonce, sealed, associated) {
      const end = sealed.length - PIECE_TAG_SIZE;
      if (end < 0) return undefined;
      const plain = new Uint8Array(sealed.subarray(0, end));
      const tag = pieceTag(key, nonce, plain, associated);
      if (!timingSafeEqual(tag, sealed.subarray(end))) return undefined;
      kuznyechik.applyCounter(streebog.deriveKey(key, PIECE_ENCRYPTION, nonce), NO_IV, plain);
      return plain;
    },
  };
}
