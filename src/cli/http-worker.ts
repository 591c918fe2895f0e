/** A thread of the REST interface (adapters/http/connection-thread.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { serveConnections } from '../adapters/http/connection-thread.ts';
import type { HttpThreadData } from '../adapters/http/thread-messages.ts';
import { createGuards } from '../api/auth.ts';
import { BROADCAST, prepareBroadcast } from '../api/broadcast-ahead.ts';
import type { Access } from '../api/route.ts';
import { admission } from '../api/server.ts';
import { createChainScheme } from '../crypto/chain-scheme.ts';
import { createFamily } from '../crypto/families.ts';
import type { ForThreads } from '../node/listen-rest.ts';

const CACHED_KEYS = 100_000;

const data = workerData as HttpThreadData;
const { family: name, chainId, nativeToken, settings } = data.program as ForThreads;
const family = createFamily(name, { cachedKeys: CACHED_KEYS });
const scheme = createChainScheme(family, chainId, nativeToken);
const guards = createGuards(settings, family);

serveConnections(parentPort!, data, {
  admit(access) {
    const guard = guards(access as Access);
    return guard && admission(guard);
  },
  works: { [BROADCAST]: prepareBroadcast(scheme, family) },
});
