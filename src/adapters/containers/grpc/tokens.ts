/** Secrets that containers show. */
import { timingSafeEqual } from 'node:crypto';
import type { Random } from '../../../base/ports/random.ts';

const TOKEN_BYTES = 32;

/** A secret of 43 characters. */
export const newToken = (random: Random): string =>
  Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url');

/** Takes the same time wherever two texts of equal length differ. */
export function sameToken(shown: string, secret: string): boolean {
  if (shown.length !== secret.length) return false;
  return timingSafeEqual(Buffer.from(shown, 'latin1'), Buffer.from(secret, 'latin1'));
}
