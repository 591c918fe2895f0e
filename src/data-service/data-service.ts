/**
 * The data service as a list of parts, wired by hand: the listener first, then the store, then the
 * crawler. So the service answers how it is from its first second, and a store that is away at the
 * start is waited for.
 */

import { type Database, DatabaseError } from '../base/database.ts';
import { Disposal } from '../base/disposal.ts';
import {
  type Http,
  type HttpClient,
  type HttpServer,
  type HttpServerOptions,
  TlsFileError,
} from '../base/http.ts';
import type { Clock, Log, Metrics, Random } from '../base/ports.ts';
import { StartError } from '../base/start-error.ts';

import { routes as nodeRoutes } from '../rest/routes/index.ts';
import { measuredRoutes } from '../rest-framework/measured-routes.ts';
import type { Pages } from '../rest-framework/pages.ts';
import { type AccessOptions, accessGuard, type Clients } from './api/access.ts';
import { createDataApi } from './api/data-api.ts';
import { forwarded } from './api/forward.ts';
import { createHeavyQueries, heavyPlaces } from './api/heavy-queries.ts';
import type { DataServices } from './api/services.ts';
import { createSlowClients } from './api/slow-clients.ts';
import { type CrawlState, newCrawlState } from './crawler/crawl-state.ts';
import { type CrawlerOptions, startCrawler } from './crawler/crawler.ts';
import { NodeReader } from './crawler/node-reader.ts';
import { readTip } from './crawler/store-end.ts';
import { crawlMeter, queryMeter, readOnDemand, routeMeter } from './measure.ts';
import { dataMetrics } from './observability.ts';
import { TransactionStreamService } from './stream/transaction-streams.ts';

export interface DataServiceOptions {
  readonly version: string;
  readonly nodeUrls: readonly string[];
  readonly nodeApiKey?: string | undefined;
  /** Absent: no interface. */
  readonly listen?: HttpServerOptions | undefined;
  readonly access: AccessOptions;
  readonly maxLag: number;
  readonly strictLag: boolean;
  /** To the database, for queries; default 1. */
  readonly connections?: number | undefined;
  /** Streams of transactions that may be open at a time. */
  readonly streamsMax: number;
  readonly streamsOfClientMax: number;
  /** For an answer of the node under `/node-api`; default 5 s. */
  readonly nodeAnswerMsMax?: number | undefined;
  /** Absent: another process crawls. */
  readonly crawl?: CrawlerOptions | undefined;
  /** Leave the processor to a node that has no block but the first: the store is opened later. */
  readonly afterFirstBlock?: boolean | undefined;
}

export interface DataServiceDeps {
  /** A connection that may write, or one for queries. One store inside the process serves both. */
  openDatabase(purpose: 'write' | 'read' | 'health'): Promise<Database>;
  readonly http: Http;
  /** For the crawler and readiness. */
  readonly client: HttpClient;
  /** For `/node-api`, so that no client keeps the crawler waiting for a connection. */
  readonly forwarding: HttpClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly pages?: Pages | undefined;
  /** Of the secrets of clients. */
  readonly hashes: Parameters<typeof accessGuard>[1];
}

export interface DataService {
  readonly server: HttpServer | undefined;
  readonly state: CrawlState;
  /** Resolves when the store is open and has a block to answer from; never where it stops before. */
  readonly answering: Promise<void>;
  /**
   * Rejects where the crawler needs an operator and nothing else is left to do: without an interface,
   * or before the store has a block to answer from.
   */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

const RETRY_MS = 1000;
const RETRY_MS_MAX = 30_000;
const FIRST_BLOCK_MS = 200;
const HEIGHT_AGE_MS = 1000;
const HEIGHT_WAIT_MS = 1000;

/** Rejects where the address cannot be bound. */
export async function createDataService(
  options: DataServiceOptions,
  deps: DataServiceDeps,
): Promise<DataService> {
  const { clock, log } = deps;
  const started = new Disposal();
  const metrics = dataMetrics(deps.metrics);
  const state = newCrawlState();
  const node = new NodeReader(
    { urls: options.nodeUrls, apiKey: options.nodeApiKey },
    {
      http: deps.client,
      clock,
      failed(url, why) {
        state.nodeErrors++;
        metrics.nodeErrors.add();
        log.debug('node.unreachable', { url, why });
      },
    },
  );
  let reading: Database | undefined;
  let health: Database | undefined;
  let store: Database | undefined;
  const crawl = options.crawl === undefined ? undefined : state;
  readOnDemand(metrics, {
    crawl,
    clock,
    inUse: () => reading?.inUse() ?? store?.inUse() ?? 0,
    db: () => reading ?? store,
  });
  const services: DataServices = {
    db: () => reading,
    healthDb: () => health ?? reading,
    heavy: createHeavyQueries(heavyPlaces(options.connections ?? 1)),
    slow: createSlowClients(clock),
    clock,
    version: options.version,
    crawl,
    nodeHeight: recentHeight(node, clock),
    maxLag: options.maxLag,
    strictLag: options.strictLag,
    meter: queryMeter(metrics),
    streams: () => streams,
  };
  const streams = new TransactionStreamService(
    { readersMax: options.streamsMax, readersOfClientMax: options.streamsOfClientMax },
    { services, log },
  );
  const server = await listen(options, deps, services, metrics);
  if (server !== undefined) started.add('listener', () => server.close());
  started.add('streams', () => streams.stop());
  const stopping = new AbortController();
  const sayStopped = (cause: Error): void => log.error('crawl.stopped', { why: cause.message });
  const ended = run().catch((cause: Error) => {
    if (stopping.signal.aborted) return;
    sayStopped(cause);
    throw cause;
  });
  ended.catch(() => undefined);
  return {
    server,
    state,
    answering: firstAnswer(() => reading, clock, started),
    ended,
    async stop() {
      stopping.abort();
      await started.dispose();
      await ended.catch(() => undefined);
    },
  };

  async function run(): Promise<void> {
    const { crawl } = options;
    if (options.afterFirstBlock === true) await firstBlock();
    if (crawl !== undefined) {
      const writing = await opened(() => deps.openDatabase('write'));
      if (writing === undefined) return;
      store = writing;
      started.add('store', () => writing.close());
      reading = writing.reading;
      const crawler = startCrawler(crawl, {
        ...deps,
        db: writing,
        node,
        state,
        meter: crawlMeter(metrics),
      });
      started.add('crawler', () => crawler.stop());
      if (reading === undefined && server !== undefined) await openReading();
      log.info('data.opened', { engine: writing.engine });
      return crawler.ended.catch((cause: Error) => {
        if (server === undefined || state.height === 0) throw cause;
        sayStopped(cause);
        return untilStopped();
      });
    }
    await openReading();
    await untilStopped();
  }

  /** It may have been stopped before, while the store was away. */
  async function untilStopped(): Promise<void> {
    if (stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      stopping.signal.addEventListener('abort', () => resolve());
    });
  }

  /** Resolves when the node has made or got a block, or does not answer. */
  async function firstBlock(): Promise<void> {
    while (!stopping.signal.aborted) {
      const height = await node.height().catch(() => undefined);
      if (height === undefined || height > 1) return;
      await wait(FIRST_BLOCK_MS);
    }
  }

  async function wait(ms: number): Promise<void> {
    const { signal } = stopping;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = clock.after(ms, end);
      signal.addEventListener('abort', end);
    });
  }

  async function openReading(): Promise<void> {
    const db = await opened(() => deps.openDatabase('read'));
    if (db === undefined) return;
    started.add('connections', () => db.close());
    // A store inside this process is open once.
    if (db.reading !== undefined) {
      reading = db.reading;
      return;
    }
    const own = await opened(() => deps.openDatabase('health'));
    if (own !== undefined) started.add('health', () => own.close());
    health = own;
    reading = db;
  }

  /** Tries until the store can be opened; undefined where the service is stopped before. */
  async function opened(open: () => Promise<Database>): Promise<Database | undefined> {
    for (let waitMs = RETRY_MS; !stopping.signal.aborted; waitMs = longer(waitMs)) {
      try {
        return await open();
      } catch (cause) {
        if (!(cause instanceof DatabaseError) || cause.failure === 'other') throw cause;
        log.warn('data.store-failed', { why: cause.message, waitMs });
      }
      await wait(waitMs);
    }
    return undefined;
  }
}

const longer = (waitMs: number): number => Math.min(RETRY_MS_MAX, waitMs * 2);

async function listen(
  { listen: where, access, nodeUrls, nodeAnswerMsMax }: DataServiceOptions,
  { http, forwarding, clock, log, pages, hashes }: DataServiceDeps,
  services: DataServices,
  metrics: ReturnType<typeof dataMetrics>,
): Promise<HttpServer | undefined> {
  if (where === undefined) return undefined;
  const clients: Clients = new WeakMap();
  const guard = accessGuard(access, hashes, clock, clients);
  const nodeUrl = (nodeUrls[0] ?? '').replace(/\/+$/, '');
  const routes = [
    ...createDataApi(services, { log, guard, clients, pages }),
    ...forwarded(nodeRoutes, {
      http: forwarding,
      clock,
      clients,
      answerMsMax: nodeAnswerMsMax,
      nodeUrl,
      guard,
    }),
  ];
  return http.listen(measuredRoutes(routes, routeMeter(metrics)), where).catch((cause: Error) => {
    if (cause instanceof TlsFileError) throw cause;
    const part = `data service on ${where.host}:${where.port}`;
    const remedy = 'stop that process or choose another address or port';
    const settings = 'data-service.bind-address, data-service.port';
    throw new StartError(part, settings, cause.cause ?? cause, remedy);
  });
}

/** Resolves when the store is open and has a block; never where the service stops before. */
function firstAnswer(
  db: () => Database | undefined,
  clock: Clock,
  started: Disposal,
): Promise<void> {
  let cancel = (): void => {};
  let isEnded = false;
  started.add('first answer', () => {
    isEnded = true;
    cancel();
  });
  return new Promise((resolve) => {
    const look = async (): Promise<void> => {
      const store = db();
      const tip = store === undefined ? undefined : await readTip(store).catch(() => undefined);
      if (isEnded) return;
      if (tip !== undefined && tip.height > 0) resolve();
      else cancel = clock.after(FIRST_BLOCK_MS, () => void look());
    };
    void look();
  });
}

/**
 * Servers beside the crawler ask the node themselves, but not with every request. A node that hangs
 * is asked once, and nobody waits long for it.
 */
function recentHeight(node: NodeReader, clock: Clock): DataServices['nodeHeight'] {
  let asked: Promise<number | undefined> = Promise.resolve(undefined);
  let isAsked = false;
  let at = Number.NEGATIVE_INFINITY;
  return async () => {
    if (!isAsked && clock.monotonic() - at > HEIGHT_AGE_MS) {
      at = clock.monotonic();
      isAsked = true;
      asked = node
        .height()
        .catch(() => undefined)
        .finally(() => {
          isAsked = false;
        });
    }
    let cancel = (): void => {};
    const late = new Promise<undefined>((resolve) => {
      cancel = clock.after(HEIGHT_WAIT_MS, () => resolve(undefined));
    });
    return Promise.race([asked, late]).finally(() => cancel());
  };
}
