/**
 * V1 and V2: Ed25519 verifications of libsodium alone, on one thread and on two: messages of 200
 * bytes, keys already in the form that the library takes. The file is also the thread's program.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import sodium from 'sodium-native';
import type { Contender, Sample } from '../measure/contender.ts';
import { withCost } from '../measure/cost.ts';

export interface Libsodium {
  readonly one: Contender;
  readonly two: Contender;
  stop(): Promise<void>;
}

const MESSAGE_BYTES = 200;
const MESSAGES = 256;

interface Done {
  readonly count: number;
  readonly ms: number;
}

export function startLibsodium(): Libsodium {
  const workers = Array.from({ length: 2 }, () => new Worker(new URL(import.meta.url)));

  const run = (threads: number, ms: number): Promise<Sample> =>
    withCost(async () => {
      const used = workers.slice(0, threads);
      const answers = used.map((worker) => once(worker, 'message') as Promise<[Done]>);
      for (const worker of used) worker.postMessage(ms);
      const done = (await Promise.all(answers)).map(([one]) => one);
      return {
        answers: done.reduce((sum, { count }) => sum + count, 0),
        perSecond: done.reduce((sum, { count, ms: took }) => sum + (count / took) * 1000, 0),
      };
    });

  return {
    one: { name: 'V1', run: (ms) => run(1, ms) },
    two: { name: 'V2', run: (ms) => run(2, ms) },
    async stop() {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

function verifyFor(ms: number): Done {
  const keys = generateKeyPairSync('ed25519');
  const publicKey = Buffer.from(keys.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const items = Array.from({ length: MESSAGES }, (_, i) => {
    const message = new Uint8Array(MESSAGE_BYTES).fill(i);
    return { message, signature: sign(null, message, keys.privateKey) };
  });
  const start = performance.now();
  let count = 0;
  while (performance.now() - start < ms) {
    for (const { message, signature } of items) {
      if (!sodium.crypto_sign_verify_detached(signature, message, publicKey)) {
        throw new Error('libsodium refuses a good signature');
      }
    }
    count += MESSAGES;
  }
  return { count, ms: performance.now() - start };
}

if (!isMainThread)
  parentPort?.on('message', (ms: number) => parentPort?.postMessage(verifyFor(ms)));
