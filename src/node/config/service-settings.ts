/**
 * Settings of the interfaces and services around the chain: REST, gRPC, privacy, containers,
 * metrics (node.md#configuration).
 */
import { PRIVATE_DATA_BYTES_MAX } from '../../base/ports/private-store.ts';
import { namedKeys } from './key-kinds.ts';
import { bool, duration, durationFrom, int, port, size, sizeFrom } from './kinds.ts';
import { derived, optional, setting } from './setting.ts';
import {
  address,
  choice,
  hostName,
  imageNames,
  intMap,
  keyHash,
  list,
  listener,
  path,
  record,
  registry,
  secretText,
  text,
} from './text-kinds.ts';

const COUNT = int(1, 1_000_000);
const time = duration();
/** With less, every image is refused; zero is no way to write that there is no limit. */
const IMAGE_BYTES = sizeFrom(1024 * 1024);
const IGNORED = { ignored: true } as const;
const SECRET = { secret: true } as const;
const UNREPEATED = { unrepeated: true } as const;

export const restApi = {
  enable: setting(bool, 'yes', 'Serve the REST interface.', { aliases: ['api.rest.enable'] }),
  'bind-address': setting(
    hostName,
    '127.0.0.1',
    'Address the REST listener binds to; 0.0.0.0 for other machines, with tls.',
    { aliases: ['api.rest.bind-address'] },
  ),
  port: setting(port, 6862, 'TCP port of the REST listener.', { aliases: ['api.rest.port'] }),
  threads: setting(
    int(0, 64),
    0,
    'Threads that hold the connections of clients; 0: the main thread does.',
  ),
  cors: setting(bool, 'yes', 'Allow calls from pages of other origins.', {
    aliases: ['api.rest.cors'],
  }),
  'api-key-hash': optional(
    keyHash,
    'Base58 of the secure hash of the API key; without it protected methods answer 403.',
    { aliases: ['api.auth.api-key-hash', 'api.rest.api-key-hash'], ...UNREPEATED },
  ),
  'privacy-api-key-hash': optional(
    keyHash,
    'The same for the privacy methods; should differ from api-key-hash.',
    {
      aliases: ['api.auth.privacy-api-key-hash', 'api.rest.privacy-api-key-hash'],
      ...UNREPEATED,
    },
  ),
  'api-keys': setting(
    namedKeys,
    [],
    'Keys that may do a part of what the API key may: a list of {name, hash, scopes, expires}. Scopes ' +
      'are read, sign, sign:<address>, privacy, peers and admin; expires is a date, and may be absent.',
    UNREPEATED,
  ),
  'audit-log': {
    path: optional(
      path,
      'File that says who did what with a key, a line of JSON for each request; absent: none.',
    ),
    'max-size': setting(
      sizeFrom(65_536),
      '16MiB',
      'Size at which a new file begins, <path>.1 and on.',
    ),
    files: setting(int(1, 10_000), 10, 'Files in all; the oldest is deleted.'),
  },
  'host-names': setting<readonly string[]>(
    list(hostName),
    [],
    'Names of this machine under which its own programs may call /utils/reload-wallet without a ' +
      'key, beside localhost, bind-address and the host of network.declared-address.',
  ),
  'sdk-compatible': setting(
    bool,
    'no',
    'Answer in the form that client libraries expect where it differs from the documented one.',
  ),
  'crypto-api-key': setting(bool, 'no', 'Require the API key for the crypto methods too.'),
  'transactions-by-address-limit': setting(
    COUNT,
    10000,
    'Largest {limit} of /transactions/address.',
    { aliases: ['api.rest.transactions-by-address-limit'] },
  ),
  'distribution-address-limit': setting(COUNT, 1000, 'Addresses in one page of a distribution.', {
    aliases: ['api.rest.distribution-address-limit'],
  }),
  'max-event-streams': setting(int(0, 10_000), 2000, 'Clients of /events at a time.'),
  'max-event-streams-per-client': setting(int(1, 10_000), 200, 'The same of one address.'),
  tls: {
    cert: optional(path, 'PEM certificate chain; with it and the key the listener is HTTPS.'),
    key: optional(path, 'PEM private key of the certificate.'),
    'client-ca': optional(
      path,
      'PEM certificates of authorities: only clients with a certificate of theirs are answered.',
    ),
  },
};

export const api = {
  grpc: {
    enable: setting(bool, 'no', 'Accepted for files of other nodes.', IGNORED),
    'bind-address': setting(
      hostName,
      '0.0.0.0',
      'Address the listener for contracts binds to, with grpc-listen = tcp.',
    ),
    port: setting(port, 6865, 'Its TCP port.'),
    events: {
      enable: setting(bool, 'no', 'Serve BlockchainEventsService to applications.'),
      'bind-address': setting(hostName, '127.0.0.1', 'Address its listener binds to; no keys.'),
      port: setting(port, 6867, 'Its TCP port.'),
      'max-connections': setting(int(1, 1000), 20, 'Subscriptions at a time.', {
        aliases: ['api.grpc.services.blockchain-events.max-connections'],
      }),
      'max-connections-per-client': setting(int(1, 1000), 5, 'The same of one address.'),
    },
  },
  auth: {
    type: optional(text, 'Accepted for files of other nodes.', IGNORED),
  },
};

export const privacy = {
  'owner-address': derived<string>(
    address,
    '<owner-address>',
    (read) => read('owner-address'),
    'Address the privacy methods act as; sender of sendData must equal it.',
  ),
  storage: {
    vendor: setting<'none' | 'file' | 'postgres' | 's3'>(
      choice('none', 'file', 'postgres', 's3'),
      'none',
      'Storage of confidential data; none switches the privacy methods off.',
    ),
    directory: derived<string>(
      path,
      '<data-directory>/privacy',
      (read) => `${read('data-directory')}/privacy`,
      'Vendor file: folder of the data.',
    ),
    // Where another vendor is chosen, nothing refuses an address with a password.
    url: optional(
      secretText,
      'Vendor postgres: postgres://host:port/database; vendor s3: https://host:port.',
      SECRET,
    ),
    'policy-quota': setting(
      size,
      '10GiB',
      'Bytes accepted for one policy; further items are fetched once there is room.',
    ),
    'account-quota': derived<number>(
      size,
      '<a quarter of quota>',
      (read) =>
        Math.max(PRIVATE_DATA_BYTES_MAX, Math.floor(Number(read('privacy.storage.quota')) / 4)),
      'The same for all policies that one account has created, and for all data that one has bound.',
    ),
    'accepted-creators': setting<readonly string[]>(
      list(address),
      [],
      'Accounts of whose policies (type 112) data are accepted, beside privacy.owner-address; ' +
        'empty: of all.',
    ),
    quota: setting(size, '100GiB', 'The same for all policies together.'),
    'free-space-min': setting(
      size,
      '1GiB',
      'Vendor file: disk space that stays free; below it no data are accepted.',
    ),
    user: optional(text, 'Vendor postgres: user.'),
    password: optional(secretText, 'Vendor postgres: password.', SECRET),
    bucket: optional(text, 'Vendor s3: bucket, which must exist.'),
    region: optional(text, 'Vendor s3: region; us-east-1 where absent.'),
    'access-key-id': optional(secretText, 'Vendor s3: access key.', SECRET),
    'secret-access-key': optional(secretText, 'Vendor s3: secret of the access key.', SECRET),
  },
  replier: {
    parallelism: setting(int(1, 200), 10, 'Requests of peers answered at a time.'),
  },
  synchronizer: {
    'request-timeout': setting(durationFrom('5s'), '2m', 'Limit for one transfer.'),
    'init-retry-delay': setting(durationFrom('100ms'), '5s', 'Pause after a first failure.'),
    'inventory-stream-timeout': setting(time, '15s', 'Accepted for files of other nodes.', IGNORED),
    'inventory-request-delay': setting(time, '3s', 'Pause before announcements are requested.'),
    'inventory-timestamp-threshold': setting(time, '10m', 'Age up to which data are announced.'),
    'crawling-parallelism': setting(
      COUNT,
      100,
      'Transfers at once; an eighth of them from one member, five at most.',
    ),
    'max-attempt-count': setting(COUNT, 24, 'Attempts before data count as lost.'),
    'lost-data-processing-delay': setting(
      durationFrom('1s'),
      '10m',
      'How often lost data are tried again.',
    ),
    'failed-peers-cache-size': setting(COUNT, 100, 'Failing peers remembered.'),
    'failed-peers-cache-expire-timeout': setting(time, '10m', 'How long they are remembered.'),
  },
  cache: {
    'max-size': setting(COUNT, 100, 'Accepted for files of other nodes.', IGNORED),
    'expire-after': setting(time, '10m', 'Accepted for files of other nodes.', IGNORED),
  },
};

export const signer = {
  socket: optional(
    path,
    'Unix socket between this node and `platform-node signer`, which has its keys; absent, without host: the node has them.',
  ),
  host: optional(
    hostName,
    'The same over TLS: the host of the signer. The signer itself listens at this address.',
  ),
  port: setting(port, 6870, 'Its TCP port.'),
  tls: {
    cert: optional(path, 'PEM certificate that this side shows to the other.'),
    key: optional(path, 'PEM private key of that certificate.'),
    ca: optional(
      path,
      'PEM certificate of the authority that signed the certificate of the other side. Whoever has one of it may use the keys.',
    ),
  },
  timeout: setting(
    duration(100, 60_000, 'from 100ms to 1m'),
    '3s',
    'Until the node gives up a signature.',
  ),
  types: setting<readonly number[]>(
    list(int(2, 255)),
    [105, 114, 120],
    'Of the signer: types of transactions that it signs. Those of the default are made by the node itself.',
  ),
};

const engine = {
  enable: setting(bool, 'no', 'Execute container contracts.'),
  'docker-host': setting(
    text,
    'unix:///var/run/docker.sock',
    'The container engine: unix://PATH or tcp://HOST:PORT.',
  ),
  tls: {
    ca: optional(
      path,
      'PEM certificate of the authority that signed the certificate of the engine.',
    ),
    cert: optional(
      path,
      'PEM certificate of this node; with the key, the connection is encrypted.',
    ),
    key: optional(path, 'PEM private key of that certificate.'),
  },
  'node-rest-api': optional(
    text,
    'host[:port] under which a container reaches rest-listen; the machine itself where absent.',
  ),
  'use-node-docker-host': setting(bool, 'no', 'Accepted for files of other nodes.', IGNORED),
  'contracts-parallelism': setting(COUNT, 8, 'Contract calls at once.'),
  'max-concurrent-per-container': setting(COUNT, 1, 'Calls at once inside one container.'),
  'execution-limits': {
    'startup-timeout': setting(durationFrom('1s'), '20s', 'Limit for a container to come up.'),
    timeout: setting(
      durationFrom('10ms'),
      '5s',
      'Limit for one call; must be below the round duration.',
    ),
    memory: setting(int(16, 1_048_576), 512, 'Memory of a container in MB.'),
    'memory-swap': setting(int(0, 1_048_576), 0, 'Swap on top of memory, in MB.'),
    cpus: setting(int(1, 1024), 1, 'Processors of a container.'),
    pids: setting(int(1, 32768), 128, 'Processes of a container.'),
  },
  'cgroup-parent': optional(
    text,
    'Control group of all containers, made by the operator: a slice of systemd, or a path.',
  ),
  'remove-container-after': setting(time, '10m', 'Idle time after which a container is removed.'),
  'remove-container-on-fail': setting(bool, 'yes', 'Remove a container that failed.'),
  'reuse-containers': setting(bool, 'yes', 'Keep a container for the next call.'),
  'allow-net-access': setting(bool, 'no', 'Let containers reach the network.'),
  'remote-registries': setting<readonly { domain: string; username?: string; password?: string }[]>(
    list(
      record({ domain: registry, username: text, password: secretText }, ['username', 'password']),
    ),
    [],
    'Registries from which images are fetched: a list of {domain, username, password}.',
    SECRET,
  ),
  'allowed-images': setting<readonly string[]>(
    list(imageNames),
    [],
    'Images that are fetched from other registries: names, in which * stands for any characters ' +
      'between two slashes, or of a label of the domain.',
  ),
  'default-registry-domain': optional(
    registry,
    'Registry of image names without one; docker.io where absent.',
  ),
  'image-size-max': setting(
    IMAGE_BYTES,
    '2GiB',
    'Largest image that is fetched, compressed and on the disk.',
  ),
  'image-quota': setting(
    IMAGE_BYTES,
    '20GiB',
    'Disk space for all images that this node has fetched; unused ones make room.',
  ),
  'pull-timeout': setting(durationFrom('1s'), '3m', 'Limit for fetching an image.'),
  'check-registry-auth-on-startup': setting(bool, 'yes', 'Try the registry logins at start.'),
  'contract-auth-expires-in': setting(time, '1m', 'How long the token of an execution lives.'),
  'grpc-listen': setting<'unix' | 'tcp'>(
    choice('unix', 'tcp'),
    'unix',
    'How containers reach the gRPC interface: a socket file, or api.grpc.port.',
  ),
  pull: setting<'missing' | 'never'>(
    choice('missing', 'never'),
    'missing',
    'Fetch missing images from remote-registries and by allowed-images, or never.',
  ),
  'protocol-by-create-version': setting<ReadonlyMap<number, 'exec' | 'grpc'>>(
    intMap(choice('exec', 'grpc')),
    { 1: 'exec', 2: 'grpc' },
    'Container interface by version of the creating transaction.',
  ),
};

export const dockerEngine = {
  ...engine,
  'rest-listen': setting(
    listener,
    'off',
    'Listener of /internal/contracts, which running contracts read: off or host:port.',
  ),
  'contract-execution-messages-cache': {
    'max-size': setting(COUNT, 100000, 'Status records remembered.'),
    'expire-after': setting(time, '60m', 'How long they are remembered.'),
    'max-buffer-size': setting(COUNT, 10, 'Status records in one batch.'),
    'max-buffer-time': setting(time, '100ms', 'Longest wait for a batch to fill.'),
    'utx-cleanup-interval': setting(
      durationFrom('1s'),
      '1m',
      'How often failed calls leave the pool.',
    ),
    'contract-error-quorum': setting(COUNT, 2, 'Miners whose error makes a call fail permanently.'),
  },
};

export const metrics = {
  enable: setting(bool, 'no', 'Serve Prometheus metrics.'),
  'bind-address': setting(hostName, '127.0.0.1', 'Address the metrics listener binds to.'),
  port: setting(port, 9464, 'TCP port of the metrics listener.'),
};
