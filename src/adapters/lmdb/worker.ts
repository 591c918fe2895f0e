/** The writing thread of the store: one transaction for each request (writer.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { giveWay } from '../threads/priorities.ts';
import { openEnvironment } from './environment.ts';
import { eachRow } from './rows.ts';
import {
  type StoreThreadAnswer,
  type StoreThreadData,
  type StoreThreadRequest,
  whileWriting,
} from './thread.ts';

const { options, state } = workerData as StoreThreadData;
const { root, tableOf } = openEnvironment(options);

function writeRow(table: number, key: Uint8Array, value: Uint8Array | undefined): void {
  if (value === undefined) tableOf(table).removeSync(key);
  else tableOf(table).putSync(key, value);
}

function write(buffers: readonly ArrayBuffer[]): string | undefined {
  try {
    // A reader that was killed holds back every page that is freed after it. This takes a microsecond.
    root.readerCheck();
    root.transactionSync(() => {
      for (const buffer of buffers) eachRow(buffer, writeRow);
    });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

giveWay('ordering');
parentPort?.on('message', async (buffers: StoreThreadRequest) => {
  if (buffers === undefined) {
    await root.close();
    parentPort?.close();
    return;
  }
  whileWriting(state, () => {
    const problem = write(buffers);
    const answer: StoreThreadAnswer = problem === undefined ? { buffers } : { buffers, problem };
    parentPort?.postMessage(answer, [...buffers]);
  });
});
