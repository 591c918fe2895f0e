/** The verification pool with this program's thread module. */

import type { Log } from '../../base/ports/log.ts';
import type { CryptoFamily } from '../../crypto/family.ts';
import { extension } from '../threads/module-extension.ts';
import { VerifyPool } from './signature-pool.ts';

export interface VerifyThreadsOptions {
  /** Upper limit; threads start when there is work for them. Default: one for each processor. */
  readonly threads?: number;
  readonly log?: Log;
}

export function createVerifyThreads(
  family: CryptoFamily,
  options: VerifyThreadsOptions = {},
): VerifyPool {
  return new VerifyPool({
    workerUrl: new URL(`./signature-worker${extension}`, import.meta.url),
    family: family.name,
    publicKeySize: family.publicKeySize,
    signatureSize: family.signatureSize,
    ...options,
  });
}
