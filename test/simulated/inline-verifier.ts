// Signatures are checked on the calling thread, at once.
import type { Verifier } from '../../src/base/ports/verifier.ts';

export function inlineVerifier(family: {
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  prepare(publicKeys: readonly Uint8Array[]): void;
}): Verifier {
  return {
    verifyOne: async (publicKey, message, signature) =>
      family.verify(publicKey, message, signature),
    async verify(items) {
      family.prepare(items.map((item) => item.publicKey));
      return items.map((item) => family.verify(item.publicKey, item.message, item.signature));
    },
    close: async () => {},
  };
}
