/**
 * Sizes in bytes that the formats of the chain fix, whichever family of cryptography a network uses.
 * `CryptoFamily` is typed by them, so that a family with other sizes does not compile. Only the size
 * of a public key depends on the family.
 */
export const SIGNATURE_BYTES = 64;
export const DIGEST_BYTES = 32;
export const ADDRESS_BYTES = 26;
/** Id of a transaction, and of the asset, contract or policy that it makes. */
export const ID_BYTES = DIGEST_BYTES;
/** The id of a block is its signature; so is that of a transaction of the genesis block. */
export const BLOCK_ID_BYTES = SIGNATURE_BYTES;
