// Signatures are checked on the calling thread, at once.
import type { Verifier } from '../../src/base/ports/verifier.ts';
import type { CryptoFamily } from '../../src/crypto/family.ts';

export function inlineVerifier(family: Pick<CryptoFamily, 'verify' | 'verifyAll'>): Verifier {
  return {
    verifyOne: async (publicKey, message, signature) =>
      family.verify(publicKey, message, signature),
    verify: async (items) => family.verifyAll(items),
    close: async () => {},
  };
}
