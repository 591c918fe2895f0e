/**
 * The data service as a list of parts, wired by hand: the listener first, then the store, then the
 * crawler. So the service answers how it is from its first second, and a store that is away at the
 * start is waited for.
 */

import { assert } from '../base/assert.ts';
import { timeLimit } from '../base/deadline.ts';
import { Disposal } from '../base/disposal.ts';
import { StartError } from '../base/faults/start-error.ts';
import type { Clock } from '../base/ports/clock.ts';
import { type Database, DatabaseError } from '../base/ports/database.ts';
import {
  type Http,
  type HttpClient,
  type HttpServer,
  type HttpServerOptions,
  TlsFileError,
} from '../base/ports/http.ts';
import type { Log } from '../base/ports/log.ts';
import type { Metrics } from '../base/ports/metrics.ts';
import type { Random } from '../base/ports/random.ts';

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
import { reasonOf } from './store-reason.ts';
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
  /** Hashes the secrets of clients. */
  readonly hashes: Parameters<typeof accessGuard>[1];
}

const RETRY_MS = 1000;
const RETRY_MS_MAX = 30_000;
const FIRST_BLOCK_MS = 200;
const NO_TABLES =
  'there are no tables in the database (data-service.database-url): run data migrate or data crawl';
const HEIGHT_AGE_MS = 1000;
const HEIGHT_WAIT_MS = 1000;

export class DataService {
  readonly state: CrawlState = newCrawlState();
  /** Resolves when the store is open and has a block to answer from; never where it stops before. */
  readonly answering: Promise<void>;
  /**
   * Rejects where the crawler needs an operator and the service has nothing else to do: it has no
   * interface, or the store has no block to answer from.
   */
  ended: Promise<void> = Promise.resolve();
  /** Undefined where there is no interface. */
  server: HttpServer | undefined;
  private readonly options: DataServiceOptions;
  private readonly deps: DataServiceDeps;
  private readonly metrics: ReturnType<typeof dataMetrics>;
  private readonly node: NodeReader;
  private readonly services: DataServices;
  private readonly streams: TransactionStreamService;
  private readonly started = new Disposal();
  private readonly stopping = new AbortController();
  private readonly firstAnswer = Promise.withResolvers<void>();
  private isStarted = false;
  /** Opens the connections for queries, which may take longer than the crawler lives. */
  private opening: Promise<void> = Promise.resolve();
  private reading: Database | undefined;
  private health: Database | undefined;
  private store: Database | undefined;

  constructor(options: DataServiceOptions, deps: DataServiceDeps) {
    this.options = options;
    this.deps = deps;
    this.answering = this.firstAnswer.promise;
    this.metrics = dataMetrics(deps.metrics);
    this.node = this.nodeReader();
    this.services = this.dataServices();
    const { streamsMax: readersMax, streamsOfClientMax: readersOfClientMax } = options;
    const { services } = this;
    this.streams = new TransactionStreamService(
      { readersMax, readersOfClientMax },
      { services, log: deps.log },
    );
  }

  /** Rejects where the address cannot be bound. */
  async start(): Promise<void> {
    assert(!this.isStarted, 'a data service is started once');
    this.isStarted = true;
    const { options, deps, started, services, metrics, streams } = this;
    readOnDemand(metrics, {
      crawl: services.crawl,
      clock: deps.clock,
      inUse: () => (this.reading ?? this.store)?.inUse() ?? 0,
      db: () => this.reading ?? this.store,
    });
    const server = await listen(options, deps, services, metrics);
    if (server !== undefined) started.add('listener', () => server.close());
    this.server = server;
    const certificateEnd = server?.certificateEnd?.();
    if (certificateEnd === undefined) metrics.certificateEnd.remove();
    else metrics.certificateEnd.set(certificateEnd / 1000);
    started.add('streams', () => streams.stop());
    started.add('node', () => this.node.stop());
    this.ended = this.run().catch((cause: Error) => {
      if (this.stopping.signal.aborted) return;
      this.sayStopped(cause);
      throw cause;
    });
    this.ended.catch(() => undefined);
    void this.watchFirstAnswer();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.started.dispose().catch(() => undefined);
    await Promise.allSettled([this.ended, this.opening]);
    // What was being opened is closed as soon as it is open.
    await this.started.dispose();
  }

  private nodeReader(): NodeReader {
    const { options, deps, state, metrics } = this;
    const failed = (url: string, why: string): void => {
      state.nodeErrors++;
      metrics.nodeErrors.add();
      deps.log.debug('node.unreachable', { url, why });
    };
    return new NodeReader(
      { urls: options.nodeUrls, apiKey: options.nodeApiKey },
      { http: deps.client, clock: deps.clock, failed },
    );
  }

  private dataServices(): DataServices {
    const { options, state } = this;
    const { clock } = this.deps;
    return {
      db: () => this.reading,
      healthDb: () => this.health ?? this.reading,
      heavy: createHeavyQueries(heavyPlaces(options.connections ?? 1)),
      slow: createSlowClients(clock),
      clock,
      version: options.version,
      crawl: options.crawl === undefined ? undefined : state,
      nodeHeight: recentHeight(this.node, clock),
      maxLag: options.maxLag,
      strictLag: options.strictLag,
      meter: queryMeter(this.metrics),
      streams: () => this.streams,
    };
  }

  private async run(): Promise<void> {
    const { afterFirstBlock, crawl } = this.options;
    if (afterFirstBlock === true) await this.firstBlock();
    if (crawl !== undefined) return this.crawl(crawl);
    await this.openReading();
    await this.wait();
  }

  private async crawl(options: CrawlerOptions): Promise<void> {
    const { deps, started, node, state, server } = this;
    const db = await this.open('write');
    if (db === undefined) return;
    this.store = db;
    started.add('store', () => db.close());
    this.reading = db.reading;
    const meter = crawlMeter(this.metrics);
    const crawler = startCrawler(options, { ...deps, db, node, state, meter });
    started.add('crawler', () => crawler.stop());
    const ended = crawler.ended.catch((cause: Error) => {
      if (server === undefined || state.height === 0) throw cause;
      this.sayStopped(cause);
      return this.wait();
    });
    if (this.reading === undefined && server !== undefined) this.opening = this.openReading();
    // A crawler that needs an operator says so, even where the connections for queries are away.
    await Promise.race([this.opening, ended]);
    deps.log.info('data.opened', { engine: db.engine });
    return ended;
  }

  private sayStopped(cause: Error): void {
    this.deps.log.error('crawl.stopped', { why: cause.message });
  }

  /** Until the node has made or got a block, or does not answer. */
  private async firstBlock(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const height = await this.node.height().catch(() => undefined);
      if (height === undefined || height > 1) return;
      await this.wait(FIRST_BLOCK_MS);
    }
  }

  private async watchFirstAnswer(): Promise<void> {
    const { signal } = this.stopping;
    const told = new Set<string>();
    // Connections for queries are opened by the first query, which may be long in coming.
    const failed = (cause: Error): undefined => {
      const isMissing = cause instanceof DatabaseError && cause.failure === 'unmigrated';
      // The crawler of this process makes the tables.
      const isFailed = !isMissing || this.options.crawl === undefined;
      const why = isMissing ? NO_TABLES : reasonOf(cause);
      // A server that is away first may have no tables then.
      if (isFailed && !told.has(why)) {
        told.add(why);
        this.deps.log.warn('data.store-failed', { why, waitMs: FIRST_BLOCK_MS });
      }
      return undefined;
    };
    while (!signal.aborted) {
      const tip = this.reading && (await readTip(this.reading).catch(failed));
      const isAnswering = tip !== undefined && tip.height > 0;
      if (isAnswering && !signal.aborted) return this.firstAnswer.resolve();
      await this.wait(FIRST_BLOCK_MS);
    }
  }

  private async openReading(): Promise<void> {
    const { started } = this;
    const db = await this.open('read');
    if (db === undefined) return;
    started.add('connections', () => db.close());
    // A store inside this process is open once.
    if (db.reading !== undefined) {
      this.reading = db.reading;
      return;
    }
    const health = await this.open('health');
    if (health !== undefined) started.add('health', () => health.close());
    this.health = health;
    this.reading = db;
  }

  /** Tries until the store can be opened; undefined where the service is stopped before. */
  private async open(purpose: 'write' | 'read' | 'health'): Promise<Database | undefined> {
    for (let waitMs = RETRY_MS; !this.stopping.signal.aborted; waitMs = longer(waitMs)) {
      try {
        return await this.deps.openDatabase(purpose);
      } catch (cause) {
        if (!(cause instanceof DatabaseError) || cause.failure === 'other') throw cause;
        this.deps.log.warn('data.store-failed', { why: reasonOf(cause), waitMs });
      }
      await this.wait(waitMs);
    }
    return undefined;
  }

  /** Resolves after this time, or at the stop, which may have been before. */
  private wait(ms?: number): Promise<void> {
    const { signal } = this.stopping;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = ms === undefined ? () => {} : this.deps.clock.after(ms, end);
      signal.addEventListener('abort', end);
    });
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
    const settings = 'data-service.bind-address, data-service.port';
    throw StartError.ofAddress(part, settings, cause.cause ?? cause);
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
    const { late, cancel } = timeLimit(clock, HEIGHT_WAIT_MS);
    const height = await Promise.race([asked, late]).finally(cancel);
    return height === 'late' ? undefined : height;
  };
}
