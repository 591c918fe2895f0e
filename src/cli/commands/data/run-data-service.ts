/** Opens the adapters of a data service for a configuration, and runs it in this process. */

import { scramSecret } from '../../../adapters/database/scram-secret.ts';
import { httpListener } from '../../../adapters/http/listener.ts';
import { type ClientTls, undiciClient } from '../../../adapters/http/undici.ts';
import { type LogControl, stderrLog } from '../../../adapters/log.ts';
import { systemClock, systemRandom } from '../../../adapters/system.ts';
import { base58 } from '../../../base/base58.ts';
import { ipRange } from '../../../base/ip-range.ts';
import type { Database } from '../../../base/ports/database.ts';
import type { HttpServerOptions } from '../../../base/ports/http.ts';
import { configuredFamily } from '../../../crypto/families.ts';
import type { CrawlerOptions } from '../../../data-service/crawler/crawler.ts';
import { AlreadyCrawled } from '../../../data-service/crawler/crawler.ts';
import { DataService, type DataServiceOptions } from '../../../data-service/data-service.ts';
import type { ReaderRole } from '../../../data-service/schema/reader-role.ts';
import type { DataConfig } from '../../../node/config/read.ts';
import { readDataPages } from '../../page-files.ts';
import { hostInUrl } from '../../telemetry.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';
import { changeLevelBySignal } from '../../terminal/log-level.ts';
import { levelOf } from '../../terminal/open-log.ts';
import { stopRequests } from '../../terminal/stop-requests.ts';
import { clientTls } from '../../tls/client-tls.ts';
import { version } from '../version.ts';
import { showProgress } from './crawl-progress.ts';

export interface Parts {
  readonly crawl: boolean;
  /** Wait while another crawler writes, instead of ending. */
  readonly wait?: boolean | undefined;
  readonly serve: boolean;
}

export interface RunningDataService {
  /** Resolves when there is something to answer from. */
  readonly answering: Promise<void>;
  /** Absent where it serves nothing. */
  readonly url: string | undefined;
  /** Resolves when the service has stopped; rejects with CliError. */
  readonly finished: Promise<void>;
}

/** The settings are those that were checked for these parts. */
export async function runDataService(
  { dataService: config, loggingLevel, platformCrypto }: DataConfig,
  parts: Parts,
): Promise<RunningDataService> {
  const telemetry = await openMetrics(config);
  const log = stderrLog(levelOf({ loggingLevel }), process.stderr.isTTY === true);
  changeLevelBySignal(log);
  const stops = stopRequests(log, { service: 'data' });
  const tls = nodeTls(config);
  const client = undiciClient(tls);
  const forwarding = undiciClient(tls);
  const clock = systemClock(undefined);
  const service = new DataService(optionsOf(config, parts), {
    openDatabase: (purpose) => openDataStore(config, purpose),
    http: httpListener,
    client,
    forwarding,
    clock,
    random: systemRandom,
    log,
    metrics: telemetry?.metrics,
    pages: readDataPages(),
    hashes: configuredFamily(platformCrypto),
  });
  // What stays open would keep the process.
  const close = async (exitCode: number): Promise<void> => {
    stops.expectEnd(exitCode);
    try {
      await service.stop();
    } finally {
      await Promise.all([client.close(), forwarding.close(), telemetry?.close()]);
      stops.release();
    }
  };
  try {
    await service.start();
  } catch (cause) {
    await close(EXIT.failure);
    throw cause;
  }
  const scheme = config.tls.cert === undefined ? 'http' : 'https';
  const url =
    service.server && `${scheme}://${hostInUrl(config.bindAddress)}:${service.server.port}`;
  if (url !== undefined) {
    log.info('data.opening', { url });
    void service.answering.then(() => log.info('data.listening', { url }));
  }
  const hideProgress = parts.crawl ? showProgress(service.state, clock, log) : () => undefined;

  const finished = (async () => {
    const cause = await Promise.race([
      stops.requested,
      service.ended.then(
        () => undefined,
        (failed: Error) => failed,
      ),
    ]);
    hideProgress();
    await close(cause === undefined ? EXIT.ok : EXIT.failure);
    if (cause !== undefined) throw failureOf(cause, log);
  })();
  return { answering: service.answering, url, finished };
}

function failureOf(cause: Error, log: LogControl): CliError {
  log.flush();
  if (cause instanceof CliError) return cause;
  return new CliError(cause.message, cause instanceof AlreadyCrawled ? EXIT.locked : EXIT.failure);
}

type DataSettings = DataConfig['dataService'];

/** Throws CliError where a file of data-service.node-tls cannot be used. */
export const nodeTls = ({ nodeTls: { ca, cert, key } }: DataSettings): ClientTls =>
  clientTls({ tlsCa: ca, tlsCert: cert, tlsKey: key }, 'data-service.node-tls');

function optionsOf(config: DataSettings, { crawl, serve, wait }: Parts): DataServiceOptions {
  const { cert, key } = config.tls;
  return {
    version,
    nodeUrls: config.nodeUrl,
    nodeApiKey: config.nodeApiKey,
    access: {
      auth: config.auth,
      keyHashes: config.apiKeyHashes.map((hash) => base58.decode(hash)),
      trustedProxies: config.trustedProxies.flatMap((text) => ipRange(text) ?? []),
      rate: config.rateLimit,
      burst: config.rateBurst,
    },
    maxLag: config.maxLag,
    strictLag: config.strictLag,
    connections: connectionsOf(config),
    streamsMax: config.maxStreams,
    streamsOfClientMax: config.maxStreamsPerClient,
    // PGlite takes most of a processor when it is made.
    afterFirstBlock: config.databaseUrl.startsWith(PGLITE),
    crawl: crawl ? { ...crawlerOptions(config), wait } : undefined,
    listen: serve
      ? {
          host: config.bindAddress,
          port: config.port,
          cors: otherOrigins(config.allowedOrigins),
          tls: cert === undefined || key === undefined ? undefined : { cert, key },
        }
      : undefined,
  };
}

const crawlerOptions = (config: DataSettings): CrawlerOptions => ({
  confirmations: config.confirmations,
  concurrency: config.concurrency,
  batchBlocks: config.batchBlocks,
  batchTx: config.batchTx,
  maxRollback: config.maxRollback,
  pollMs: config.pollInterval.ms,
  bulk: config.bulk === 'auto',
  indexText: config.indexText,
  reader: readerOf(config),
});

export function readerOf({ readerRole, readerPassword }: DataSettings): ReaderRole | undefined {
  if (readerRole === undefined) return undefined;
  const secret = readerPassword === undefined ? undefined : scramSecret(readerPassword);
  return { name: readerRole, secret };
}

/** Headers of answers that pages of other origins read, and headers that they send. */
const EXPOSED = [
  ...['ETag', 'Link', 'Retry-After', 'X-Balance-Height', 'X-First-Index', 'X-Height'],
  ...['X-Next-Index', 'X-Request-Id', 'X-Tip-Signature', 'X-Total-Index'],
];
const ACCEPTED = [
  ...['Authorization', 'Content-Type', 'If-None-Match', 'Last-Event-ID', 'Traceparent'],
  'X-Api-Key',
];

function otherOrigins(allowed: readonly string[]): HttpServerOptions['cors'] {
  if (allowed.length === 0) return false;
  const isAll = allowed.includes('*');
  return { allowed: isAll ? '*' : allowed, exposed: EXPOSED, accepted: ACCEPTED };
}

const PGLITE = 'pglite:';
/** Two batches are under way, and what the next one names is looked up. */
const CRAWLER_CONNECTIONS = 3;

type StoreSettings = Pick<DataSettings, 'databaseUrl' | 'poolSize' | 'statementTimeout'>;

/** For queries. A store inside the process runs one statement after the other. */
export const connectionsOf = ({ databaseUrl, poolSize }: StoreSettings): number =>
  databaseUrl.startsWith(PGLITE) ? 1 : poolSize;

/** Of a store inside this process; undefined for another one, and for one in memory. */
export function pgliteFolder({ databaseUrl }: StoreSettings): string | undefined {
  if (!databaseUrl.startsWith(PGLITE)) return undefined;
  return databaseUrl.slice(PGLITE.length) || undefined;
}

/** Throws CliError where another process has the folder, or a file of the address cannot be read. */
export async function openDataStore(
  settings: StoreSettings,
  purpose: 'write' | 'read' | 'health',
): Promise<Database> {
  const { databaseUrl, poolSize, statementTimeout } = settings;
  if (databaseUrl.startsWith(PGLITE)) {
    const { pgliteDatabase } = await import('../../../adapters/database/pglite.ts');
    const { StoreLockedError } = await import('../../../adapters/folder-lock.ts');
    const statementMs = statementTimeout.ms;
    return pgliteDatabase(pgliteFolder(settings), { statementMs }).catch((cause: unknown) => {
      if (!(cause instanceof StoreLockedError)) throw cause;
      const text = `${cause.message} (database-url); several servers need PostgreSQL`;
      throw new CliError(text, EXIT.locked);
    });
  }
  const { postgresDatabase } = await import('../../../adapters/database/postgres.ts');
  const options =
    purpose === 'write'
      ? { poolSize: CRAWLER_CONNECTIONS }
      : {
          poolSize: purpose === 'health' ? 1 : poolSize,
          statementMs: statementTimeout.ms,
          readOnly: true,
        };
  try {
    return postgresDatabase({ url: databaseUrl, ...options });
  } catch (cause) {
    // The options of the address name files of TLS.
    throw new CliError(`${(cause as Error).message} (data-service.database-url); correct the path`);
  }
}

async function openMetrics({ metricsBind: host, metricsPort: port }: DataSettings) {
  if (port === undefined) return undefined;
  const { servePrometheus } = await import('../../../adapters/prometheus.ts');
  return servePrometheus({ host, port });
}
