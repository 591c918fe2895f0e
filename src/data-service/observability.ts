/** Every event of the log and every metric of the data service, by name. */
import {
  counter,
  gauge,
  histogram,
  type Instruments,
  instrumentsOf,
  type MetricTable,
} from '../base/metric-table.ts';
import type { Metrics } from '../base/ports/metrics.ts';

export const dataEvents = {
  'crawl.failed':
    'The node or the database did not answer; the crawler tries again after `waitMs`. With kind `database-full` the disk of the database is full, with `database-lock` its lock was lost.',
  'crawl.balances-failed':
    'The node does not give the balances of this address, or of any; it is asked again later, and the crawl goes on.',
  'crawl.final-failed':
    'The node does not say which blocks are final; it is asked again later, and the crawl goes on.',
  'crawl.turns-failed':
    'The node does not give the settings of its consensus; it is asked again later, and the crawl goes on.',
  'crawl.index': 'The first load builds this index.',
  'crawl.progress': 'How far the data are.',
  'crawl.reorganised': 'The node left blocks that were stored; they are being replaced.',
  'crawl.stopped': 'The crawler ended for a reason that needs an operator; `why` says what to do.',
  'crawl.text-changed':
    'A transaction has a text that no database can hold; it is stored without it.',
  'data.failed': 'An unexpected error: the data service ends with code 70; report it.',
  'data.listening': 'The data service answers queries at this address.',
  'data.opened': 'The store is open and its tables are up to date.',
  'data.opening':
    'The address is taken, and the store is being opened or is empty: until `data.listening` queries get 503 or find nothing, and `/health/ready` answers 503.',
  'data.stop-timeout': 'The orderly stop took too long; the process ends anyway.',
  'data.stopping': 'The data service received a request to stop.',
  'data.store-failed': 'The store cannot be opened; after `waitMs` it is tried again.',
  'stream.failed': 'The next transactions of a stream cannot be read; it was ended.',
  'node.unreachable': 'A node of `data-service.node-url` did not answer; the next one is asked.',
} as const;

/** Limits in seconds. */
const QUERY = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const DEPTH = [1, 2, 5, 10, 50, 100, 500, 1000, 4000];

export const dataMetricTable = {
  crawling: gauge(
    'ds_crawling',
    '1 while this process crawls, 0 once its crawler has ended for good; gone where another one crawls.',
  ),
  failing: gauge(
    'ds_crawl_failing',
    '1 from a failure of the node or the database until the crawler gets on: heights are then those of before; 0 while it waits for another one; gone where nobody crawls.',
  ),
  height: gauge('ds_height', 'Height of the last stored block; only of a process that crawls.'),
  nodeHeight: gauge('ds_node_height', 'Height of the node; gone once the crawler has ended.'),
  lagBlocks: gauge(
    'ds_lag_blocks',
    'Blocks that the data are behind the node; gone once the crawler has ended.',
  ),
  lagSeconds: gauge(
    'ds_lag_seconds',
    'Age of the last stored block while the data are behind or the crawl fails; gone once the crawler has ended.',
  ),
  blocks: counter('ds_blocks_total', 'Blocks written.'),
  txs: counter('ds_txs_total', 'Transactions written.', ['type']),
  unknownTxs: counter(
    'ds_unknown_tx_total',
    'Transactions of types that this release does not know.',
  ),
  batch: histogram('ds_batch_seconds', 'Writing of one batch.', [], BATCH),
  fetch: histogram('ds_fetch_seconds', 'Fetching of one range of blocks.', [], BATCH),
  rollback: histogram('ds_rollback_seconds', 'Removal of the blocks of a left branch.', [], BATCH),
  reorgs: counter('ds_reorgs_total', 'Reorganisations.'),
  reorgDepth: histogram('ds_reorg_depth', 'Blocks that a reorganisation removed.', [], DEPTH),
  nodeErrors: counter('ds_node_errors_total', 'Requests that a node did not answer.'),
  requests: counter('ds_http_requests_total', 'Answered requests.', ['route', 'code']),
  requestTime: histogram(
    'ds_http_request_seconds',
    'From a request to its answer.',
    ['route'],
    QUERY,
  ),
  query: histogram(
    'ds_query_seconds',
    'Lists of transactions, by the scopes of the search.',
    ['scope'],
    QUERY,
  ),
  timeouts: counter('ds_query_timeouts_total', 'Queries ended by `statement-timeout`.'),
  certificateEnd: gauge(
    'ds_certificate_end_seconds',
    'When the certificate of the interface ends, Unix time; absent for plain HTTP.',
  ),
  balanceDirty: gauge('ds_balance_dirty', 'Addresses whose balances are to be asked for.'),
  dbSize: gauge('ds_db_size_bytes', 'Size of the database.'),
  poolInUse: gauge('ds_pool_in_use', 'Busy connections to the database.'),
  waitingBytes: gauge('ds_fetched_bytes', 'Bytes of fetched blocks that wait to be written.'),
} as const satisfies MetricTable;

export type DataMetrics = Instruments<typeof dataMetricTable>;

export const dataMetrics = (sink?: Metrics): DataMetrics => instrumentsOf(dataMetricTable, sink);
