// A writing thread that dies over certain rows: before the transaction or after it.
import { parentPort, workerData } from 'node:worker_threads';
import { openEnvironment } from '../../../src/adapters/lmdb/environment.ts';
import { eachRow } from '../../../src/adapters/lmdb/rows.ts';
import type { StoreThreadData } from '../../../src/adapters/lmdb/thread.ts';

const { root, tableOf } = openEnvironment((workerData as StoreThreadData).options);

parentPort?.on('message', async (buffers: readonly ArrayBuffer[] | undefined) => {
  if (buffers === undefined) {
    await root.close();
    parentPort?.close();
    return;
  }
  const keys: string[] = [];
  for (const buffer of buffers) eachRow(buffer, (_, key) => keys.push(Buffer.from(key).toString()));
  if (!keys.includes('die before')) {
    root.transactionSync(() => {
      for (const buffer of buffers) {
        eachRow(buffer, (table, key, value) => {
          tableOf(table).putSync(key, value ?? new Uint8Array());
        });
      }
    });
  }
  if (keys.some((key) => key.startsWith('die'))) throw new Error('a bug');
  parentPort?.postMessage({ buffers }, [...buffers]);
});
