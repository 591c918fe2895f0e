/** A thread of the REST interface (adapters/http/connection-threads/connection-thread.ts). */
import { availableParallelism } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { ConnectionThread } from '../../adapters/http/connection-threads/connection-thread.ts';
import type { HttpThreadData } from '../../adapters/http/connection-threads/thread-messages.ts';
import { OffloadThreads } from '../../adapters/http/offload/offload-threads.ts';
import { extension } from '../../adapters/threads/module-extension.ts';
import { keepToOwnProcessor } from '../../adapters/threads/processors.ts';
import { createFamily } from '../../crypto/families.ts';
import type { ForThreads } from '../../node/listen-rest.ts';
import { AccessKeys, type KeySettings } from '../../rest/access-keys.ts';
import { BROADCAST } from '../../rest/broadcast-offload.ts';
import { createGuards } from '../../rest/guards.ts';
import { admission } from '../../rest-framework/server.ts';

const data = workerData as HttpThreadData;
const program = data.program as ForThreads;
const keys = new AccessKeys(program.keys, createFamily(program.family), Date.now);
const guards = createGuards({ settings: program.settings, keys });
// A processor is left to each thread of connections, which must refuse at once.
const broadcasts = new OffloadThreads({
  workerUrl: new URL(`./broadcast-worker${extension}`, import.meta.url),
  workerData: program,
  threadsMax: Math.max(1, Math.floor(availableParallelism() / data.threads) - 1),
  onDeath(cause) {
    throw cause;
  },
});

new ConnectionThread(parentPort!, data, {
  admit(access) {
    const guard = guards(access);
    return guard && admission(guard);
  },
  renew(settings) {
    keys.replace(settings as KeySettings);
  },
  works: { [BROADCAST]: (body) => broadcasts.run(body) },
  end: () => broadcasts.end(),
}).start();
void keepToOwnProcessor(data);
