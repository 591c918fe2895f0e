/** The part of sodium-native that this node uses; the package brings no types. */
declare module 'sodium-native' {
  const sodium: {
    /** BLAKE2b with the digest size of `output`. */
    crypto_generichash(output: Uint8Array, input: Uint8Array): void;
    crypto_hash_sha512(output: Uint8Array, input: Uint8Array): void;
    crypto_sign_verify_detached(
      signature: Uint8Array,
      message: Uint8Array,
      publicKey: Uint8Array,
    ): boolean;
    crypto_scalarmult_base(publicKey: Uint8Array, scalar: Uint8Array): void;
    /** Throws when the result is zero, which is the case for every weak point. */
    crypto_scalarmult(secret: Uint8Array, scalar: Uint8Array, point: Uint8Array): void;
    crypto_scalarmult_ed25519_base_noclamp(point: Uint8Array, scalar: Uint8Array): void;
    crypto_core_ed25519_scalar_reduce(reduced: Uint8Array, wide: Uint8Array): void;
    readonly crypto_pwhash_scryptsalsa208sha256_SALTBYTES: number;
    /** scrypt on the thread pool. Throws where a length or a limit is out of range. */
    crypto_pwhash_scryptsalsa208sha256_async(
      key: Uint8Array,
      password: Uint8Array,
      salt: Uint8Array,
      operationsMax: number,
      bytesMax: number,
    ): Promise<void>;
  };
  export default sodium;
}
