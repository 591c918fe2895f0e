/** Settings of the data service, a program of its own beside the node (data-service.md#settings). */
import { bool, duration, int, intOr, port } from './kinds.ts';
import { derived, optional, setting } from './setting.ts';
import {
  addressRange,
  choice,
  hostName,
  httpUrl,
  keyHash,
  list,
  origins,
  path,
  roleName,
  secretText,
} from './text-kinds.ts';

const HOUR_MS = 3_600_000;
const COUNT = int(1, 1_000_000);

export const dataService = {
  'node-url': setting<readonly string[]>(
    list(httpUrl),
    ['http://127.0.0.1:6862'],
    'REST interface of the node; of several the first one that answers is used.',
  ),
  'node-api-key': optional(secretText, 'Key for that interface; reading needs none.', {
    secret: true,
  }),
  'node-tls': {
    ca: optional(path, 'PEM authorities of the node, instead of those of the system.'),
    cert: optional(path, 'PEM certificate to show to a node with rest-api.tls.client-ca.'),
    key: optional(path, 'PEM private key of that certificate.'),
  },
  'database-url': derived<string>(
    secretText,
    'pglite:<data-directory>/data-service',
    (read) => `pglite:${read('data-directory')}/data-service`,
    'postgres://… for a server, pglite:<folder> for a database inside this process.',
    { secret: true },
  ),
  'reader-role': optional(
    roleName,
    'Role of the servers of PostgreSQL: the crawler and data migrate make it, and let it read all tables.',
  ),
  'reader-password': optional(secretText, 'Password that they give to reader-role.', {
    secret: true,
  }),
  'pool-size': setting(int(1, 1000), 10, 'Connections of an API server to PostgreSQL.'),
  'statement-timeout': setting(
    duration(1, HOUR_MS, 'from 1ms to 1h'),
    '10s',
    'Longer queries are answered with 504.',
  ),
  'poll-interval': setting(
    duration(10, HOUR_MS, 'from 10ms to 1h'),
    '1s',
    'How often the node is asked for new blocks.',
  ),
  confirmations: setting(
    intOr('final', int(0, 10_000)),
    0,
    'Blocks below the tip that are not stored yet; final: those above the final block, which are all ' +
      'where nobody votes on blocks (feature 1004). What is stored is then never taken back.',
  ),
  concurrency: setting(int(1, 16), 4, 'Requests to the node at a time.'),
  'batch-blocks': setting(int(1, 100), 100, 'Blocks of one request and of one batch.'),
  'batch-tx': setting(COUNT, 2000, 'Transactions of one batch.'),
  'max-rollback': setting(COUNT, 4000, 'A deeper reorganisation waits for the operator.'),
  'max-lag': setting(COUNT, 100, 'Blocks behind the node from which on the service is not ready.'),
  'strict-lag': setting(bool, 'no', 'Answer 503 to all queries while the lag is larger.'),
  'max-streams': setting(
    int(0, 10_000),
    100,
    'Streams of transactions that may be open at a time.',
  ),
  'max-streams-per-client': setting(int(1, 10_000), 10, 'The same of one key or address.'),
  bulk: setting<'auto' | 'off'>(
    choice('auto', 'off'),
    'auto',
    'A first load of a long chain builds the indexes at its end.',
  ),
  'index-text': setting(
    bool,
    'yes',
    'Indexes for parts of texts. Without them such searches are slow and the crawl is faster.',
  ),
  'bind-address': setting(hostName, '127.0.0.1', 'Address the listener binds to.'),
  port: setting(port, 6866, 'TCP port of the listener.'),
  auth: setting<'none' | 'api-key' | 'proxy'>(
    choice('none', 'api-key', 'proxy'),
    'none',
    'Who may ask: everyone, holders of a key, or clients of trusted-proxies.',
  ),
  'allow-unauthenticated': setting(
    bool,
    'no',
    'Start with auth = none although the address is not a loopback one.',
  ),
  'api-key-hashes': setting<readonly string[]>(
    list(keyHash),
    [],
    'Hashes of the keys for auth = api-key, made with api-key hash; several, so that keys can change.',
  ),
  'trusted-proxies': setting<readonly string[]>(
    list(addressRange),
    [],
    'Addresses of the proxies for auth = proxy. Their X-Forwarded-For names the client for rate-limit.',
  ),
  'allowed-origins': setting<readonly string[]>(
    origins,
    [],
    'Origins whose pages may read answers; * for all, without credentials. None: only those of the service itself.',
  ),
  'rate-limit': setting(int(0, 1_000_000), 20, 'Requests a second of one client; 0: no limit.'),
  'rate-burst': setting(int(1, 1_000_000), 40, 'Requests of one client at once.'),
  'metrics-bind': setting(hostName, '127.0.0.1', 'Address of the metrics.'),
  'metrics-port': optional(port, 'TCP port of the metrics; absent: they are not served.'),
  tls: {
    cert: optional(path, 'PEM certificate chain; with it and the key the listener is HTTPS.'),
    key: optional(path, 'PEM private key of the certificate.'),
  },
};
