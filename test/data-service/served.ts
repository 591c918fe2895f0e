/** A data service in the process of the test: a crawl of a made chain, and its interface. */
import { httpListener } from '../../src/adapters/http/listener.ts';
import { undiciClient } from '../../src/adapters/http/undici.ts';
import { systemClock, systemRandom } from '../../src/adapters/system.ts';
import { parse } from '../../src/base/json/json.ts';
import type { Database } from '../../src/base/ports/database.ts';
import type { Metrics } from '../../src/base/ports/metrics.ts';
import { readDataPages } from '../../src/cli/page-files.ts';
import { configuredFamily } from '../../src/crypto/families.ts';
import { DataService, type DataServiceOptions } from '../../src/data-service/data-service.ts';
import { type MemoryLog, memoryLog } from '../node/memory-ports.ts';
import type { Scope } from '../system/e2e/process.ts';
import { OPTIONS } from './crawling.ts';

export interface Served {
  readonly url: string;
  readonly service: DataService;
  readonly log: MemoryLog;
  get(path: string, headers?: Record<string, string>): Promise<GivenAnswer>;
  post(path: string, body: string, headers?: Record<string, string>): Promise<GivenAnswer>;
  /** Resolves when the store is open. */
  opened(): Promise<void>;
  /** Resolves when `/status` names this height and nothing is left to do. */
  reached(height: number): Promise<void>;
}

export interface GivenAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
}

export const OPEN_TO_ALL: DataServiceOptions['access'] = {
  auth: 'none',
  keyHashes: [],
  trustedProxies: [],
  rate: 0,
  burst: 1,
};

/** A test in which nothing answers fails where it asks. */
const ANSWER_MS = 60_000;
const WAIT_MS = 25;
const WAIT_MS_MAX = 60_000;

export async function served(
  scope: Scope,
  nodeUrl: string,
  open: (purpose: 'write' | 'read') => Promise<Database>,
  changes: Partial<DataServiceOptions> = {},
  metrics?: Metrics,
): Promise<Served> {
  const client = undiciClient();
  const forwarding = undiciClient();
  const log = memoryLog();
  const service = new DataService(
    {
      version: '1.1.0',
      nodeUrls: [nodeUrl],
      access: OPEN_TO_ALL,
      maxLag: 100,
      strictLag: false,
      streamsMax: 10,
      streamsOfClientMax: 10,
      crawl: OPTIONS,
      listen: { host: '127.0.0.1', port: 0, cors: false },
      ...changes,
    },
    {
      openDatabase: open,
      http: httpListener,
      client,
      forwarding,
      clock: systemClock(undefined),
      random: systemRandom,
      log,
      pages: readDataPages(),
      hashes: configuredFamily(true),
      metrics,
    },
  );
  await service.start();
  scope.teardown(async () => {
    await service.stop();
    await client.close();
    await forwarding.close();
  });
  const url = `http://127.0.0.1:${service.server?.port}`;
  const ask = async (path: string, init: RequestInit): Promise<GivenAnswer> => {
    const response = await fetch(url + path, { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const json = isJson ? parse(text) : undefined;
    return { status: response.status, headers: response.headers, text, json };
  };
  const get = (path: string, headers: Record<string, string> = {}) => ask(path, { headers });
  return {
    url,
    service,
    log,
    get,
    post(path, body, headers = {}) {
      const all = { 'content-type': 'application/json', ...headers };
      return ask(path, { method: 'POST', body, headers: all });
    },
    async opened() {
      while ((await get('/blocks?limit=1')).status !== 200) {
        await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      }
    },
    async reached(height) {
      for (let waited = 0; waited < WAIT_MS_MAX; waited += WAIT_MS) {
        const { status, json } = await get('/status');
        const is = json as { height?: number; bulk?: boolean } | undefined;
        if (status === 200 && is?.height === height && is.bulk === false) return;
        await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      }
      throw new Error(`height ${height} is not reached`);
    },
  };
}
