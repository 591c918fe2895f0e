/** SHA-256: the hash of private data, in both families of cryptography (privacy.md#sending). */
import { createHash } from 'node:crypto';

export const sha256 = (message: Uint8Array): Uint8Array =>
  new Uint8Array(createHash('sha256').update(message).digest());

export interface Sha256 {
  update(piece: Uint8Array): void;
  /** Ends the hash and returns it. */
  digest(): Uint8Array;
}

/** The hash of a message that arrives in pieces. */
export function sha256InPieces(): Sha256 {
  const hash = createHash('sha256');
  return {
    update: (piece) => void hash.update(piece),
    digest: () => new Uint8Array(hash.digest()),
  };
}
