/** A thread that reads and checks broadcasts for a thread of the REST interface (http-worker.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { serveOffload } from '../../adapters/http/offload/offload-thread.ts';
import { createChainScheme } from '../../crypto/chain-scheme.ts';
import { createFamily } from '../../crypto/families.ts';
import type { ForThreads } from '../../node/listen-rest.ts';
import { prepareBroadcasts } from '../../rest/broadcast-offload.ts';

const CACHED_KEYS = 100_000;

const { family: name, chainId, nativeToken } = workerData as ForThreads;
const family = createFamily(name, { cachedKeys: CACHED_KEYS });
const scheme = createChainScheme(family, chainId, nativeToken);

serveOffload(parentPort!, prepareBroadcasts(scheme, family));
