/** The verification pool with this program's thread module. */

import type { CryptoFamily } from '../../crypto/family.ts';
import { extension } from '../threads/module-extension.ts';
import { VerifyPool, type VerifyPoolOptions } from './signature-pool.ts';

export function createVerifyThreads(
  family: CryptoFamily,
  options: Pick<VerifyPoolOptions, 'threads' | 'log'> = {},
): VerifyPool {
  return new VerifyPool({
    workerUrl: new URL(`./signature-worker${extension}`, import.meta.url),
    family: family.name,
    publicKeySize: family.publicKeySize,
    signatureSize: family.signatureSize,
    ...options,
  });
}
