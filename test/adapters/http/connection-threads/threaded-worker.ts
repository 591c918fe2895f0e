// A thread of the tests of the server: its rules of access, and threads for one part of a route.
import { parentPort, workerData } from 'node:worker_threads';
import { ConnectionThread } from '../../../../src/adapters/http/connection-threads/connection-thread.ts';
import { OffloadThreads } from '../../../../src/adapters/http/offload/offload-threads.ts';
import { rules } from '../rules.ts';

const offload = new OffloadThreads({
  workerUrl: new URL('../offload/offload-worker.ts', import.meta.url),
  workerData: undefined,
  threadsMax: 1,
  onDeath(cause) {
    throw cause;
  },
});

new ConnectionThread(parentPort!, workerData, {
  admit: (access) => rules[access],
  renew: () => undefined,
  works: {
    half(body) {
      const asked = Buffer.from(body).toString();
      if (asked === 'die') setImmediate(() => Promise.reject(new Error('unexpected')));
      if (asked === 'hold all') {
        for (const end = performance.now() + 600; performance.now() < end; );
      }
      return offload.run(body);
    },
  },
  end: () => offload.end(),
}).start();
