/**
 * The interface of a cryptography family (accounts.md).
 *
 * A network uses exactly one family. Every function depends on its arguments only: randomness is
 * passed in, and results are new copies. The international family is in curve25519/; sizes are in
 * bytes throughout.
 */
import type { CryptoCharges } from '../base/charge.ts';
import type { Random } from '../base/ports/random.ts';
import type { SignatureCheck } from '../base/ports/verifier.ts';
import type { SIGNATURE_BYTES } from '../base/sizes.ts';

export interface KeyPair {
  /** Secret, in the form that clients show and keystores store. */
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
}

export interface CryptoFamily {
  /** The name with which another thread makes the same family. */
  readonly name: FamilyName;
  /** The name in messages, before `cryptography`. */
  readonly title: string;
  /** The value of the setting that selects it. */
  readonly platformCrypto: boolean;
  /** The form of a keystore: one file with all accounts, or a directory with a file for each. */
  readonly keystoreLayout: 'file' | 'directory';
  /**
   * True where nodes of other makers also have key files for its accounts (keystore/compatible.ts).
   */
  readonly hasCompatibleKeyFiles: boolean;
  readonly publicKeySize: number;
  readonly signatureSize: typeof SIGNATURE_BYTES;
  /** The name of `seal` in requests to encrypt. */
  readonly messageCipher: string;
  /** The size of the symmetric key that `seal` and `open` take and `wrapKey` encrypts. */
  readonly contentKeySize: number;
  /** What scripts pay for `secureHash`, `fastHash` and `verify`; a rule of the network. */
  readonly charges: CryptoCharges;

  fastHash(message: Uint8Array): Uint8Array;
  secureHash(message: Uint8Array): Uint8Array;

  /** The secret of the n-th account of a seed phrase; clients always use number 0. */
  accountSeed(phrase: string, nonce?: number): Uint8Array;
  keyPairFromSeed(accountSeed: Uint8Array): KeyPair;
  keyPairFromPhrase(phrase: string, nonce?: number): KeyPair;
  generateKeyPair(random: Random): KeyPair;
  publicKeyOf(privateKey: Uint8Array): Uint8Array;
  /**
   * True for a key under which anyone can forge signatures or agreements; false for a wrong size.
   */
  isWeakPublicKey(publicKey: Uint8Array): boolean;

  /** Randomised: two signatures of one message differ. */
  sign(privateKey: Uint8Array, message: Uint8Array, random: Random): Uint8Array;
  /** The verdict of the network. False for malformed input, never an error. */
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /** The verdicts of `verify`, in the order of the checks, in less time than one by one. */
  verifyAll(checks: readonly SignatureCheck[]): boolean[];

  /** The shared secret of two accounts, the same from both sides. Throws CryptoError. */
  agree(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array;
  /** Encrypts and authenticates under a content key. */
  seal(contentKey: Uint8Array, plain: Uint8Array, random: Random): Uint8Array;
  /** The plain bytes, or undefined when the input does not authenticate. */
  open(contentKey: Uint8Array, sealed: Uint8Array): Uint8Array | undefined;
  /**
   * Encrypts and authenticates a piece of a stream together with associated bytes; 16 bytes longer.
   * The key has 32 bytes, the nonce 12 that were never used with the key.
   */
  sealPiece(
    key: Uint8Array,
    nonce: Uint8Array,
    plain: Uint8Array,
    associated: Uint8Array,
  ): Uint8Array;
  /** The plain bytes, or undefined when the input does not authenticate. */
  openPiece(
    key: Uint8Array,
    nonce: Uint8Array,
    sealed: Uint8Array,
    associated: Uint8Array,
  ): Uint8Array | undefined;
  /** A content key encrypted for the owner of `publicKey`. Throws CryptoError. */
  wrapKey(
    privateKey: Uint8Array,
    publicKey: Uint8Array,
    contentKey: Uint8Array,
    random: Random,
  ): Uint8Array;
  /** The content key, or undefined when it was not wrapped by this pair of accounts. */
  unwrapKey(
    privateKey: Uint8Array,
    publicKey: Uint8Array,
    wrapped: Uint8Array,
  ): Uint8Array | undefined;
}

export type FamilyName = 'curve25519' | 'gost';

/** A key of the wrong size, or a key with which no secret can be shared. */
export class CryptoError extends Error {
  override name = 'CryptoError';
}
