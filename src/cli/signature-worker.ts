/** A verification thread: answers every batch in the order of arrival (adapters/signature-pool.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { giveWay } from '../adapters/background-thread.ts';
import { readBatch, type VerifyThreadData, verdictsOf } from '../adapters/signature-batch.ts';
import { createFamily } from '../crypto/families.ts';
import type { FamilyName } from '../crypto/family.ts';

const data = workerData as VerifyThreadData;
const family = createFamily(data.family as FamilyName, { cachedKeys: data.cachedKeys });

giveWay('background');
parentPort?.on('message', (buffer: ArrayBuffer) => {
  const items = readBatch(buffer, data);
  const verdicts = verdictsOf(buffer);
  family.prepare(items.map((item) => item.publicKey));
  for (const [i, { publicKey, message, signature }] of items.entries()) {
    verdicts[i] = family.verify(publicKey, message, signature) ? 1 : 0;
  }
  parentPort?.postMessage(buffer, [buffer]);
});
