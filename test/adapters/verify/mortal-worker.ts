/** A verification thread that dies on certain messages; it finds everything else valid. */
import { existsSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import {
  readBatch,
  type VerifyThreadData,
  verdictsOf,
} from '../../../src/adapters/verify/signature-batch.ts';
import { fromUtf8 } from '../../../src/base/bytes.ts';

parentPort?.on('message', (buffer: ArrayBuffer) => {
  const items = readBatch(buffer, workerData as VerifyThreadData);
  for (const { message } of items) obey(fromUtf8(message) ?? '');
  verdictsOf(buffer).fill(1);
  parentPort?.postMessage(buffer, [buffer]);
});

function obey(order: string): void {
  if (order === 'exit') process.exit(1);
  if (order === 'throw') throw new Error('as told');
  if (order.startsWith('once ')) {
    const path = order.slice(5);
    if (existsSync(path)) return;
    writeFileSync(path, '');
    process.exit(1);
  }
}
