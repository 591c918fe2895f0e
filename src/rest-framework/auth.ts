/**
 * Secrets of requests. Their hashes are compared without early exit, and before any byte of a body is
 * read.
 */
import { utf8 } from '../base/bytes.ts';
import type { ApiError } from '../base/errors.ts';
import type { HttpRequest } from '../base/ports/http.ts';
import type { CryptoFamily } from '../crypto/family.ts';

export type Hashes = Pick<CryptoFamily, 'secureHash'>;

/** The refusal of a request, or undefined. */
export type Guard = (request: HttpRequest) => ApiError | undefined;

/** Headers with a secret. */
export const KEY_HEADERS = ['x-api-key', 'api_key'] as const;

/** The current header wins over the old one. */
export function secretOf(request: HttpRequest): string {
  const current = request.header('x-api-key');
  return current === '' ? request.header('api_key') : current;
}

export function matches(
  secret: string,
  allowed: readonly (Uint8Array | undefined)[],
  hashes: Hashes,
): boolean {
  return secret !== '' && isAmong(hashOf(secret, hashes), allowed);
}

export const hashOf = (secret: string, hashes: Hashes): Uint8Array =>
  hashes.secureHash(utf8(secret));

function isAmong(hash: Uint8Array, allowed: readonly (Uint8Array | undefined)[]): boolean {
  let found = false;
  for (const expected of allowed) {
    // No short circuit: the time must not show which of the hashes matched.
    if (expected !== undefined) found = sameSecret(hash, expected) || found;
  }
  return found;
}

/** The time depends on the length alone. */
export function sameSecret(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}
