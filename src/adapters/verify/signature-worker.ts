/** A verification thread: answers every batch in the order of arrival (adapters/verify/signature-pool.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { createFamily } from '../../crypto/families.ts';
import type { FamilyName } from '../../crypto/family.ts';
import { giveWay } from '../threads/priorities.ts';
import { readBatch, type VerifyThreadData, verdictsOf } from './signature-batch.ts';

const data = workerData as VerifyThreadData;
const family = createFamily(data.family as FamilyName, { cachedKeys: data.cachedKeys });

giveWay('background');
parentPort?.on('message', (buffer: ArrayBuffer) => {
  const items = readBatch(buffer, data);
  const verdicts = verdictsOf(buffer);
  for (const [i, verdict] of family.verifyAll(items).entries()) verdicts[i] = verdict ? 1 : 0;
  parentPort?.postMessage(buffer, [buffer]);
});
