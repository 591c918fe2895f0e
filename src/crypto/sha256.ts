/** SHA-256: the hash of private data, in both families of cryptography (privacy.md#sending). */
import { createHash } from 'node:crypto';

export const sha256 = (message: Uint8Array): Uint8Array =>
  new Uint8Array(createHash('sha256').update(message).digest());
