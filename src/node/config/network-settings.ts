/**
 * Settings of peer connections, clock, block making and synchronisation (node.md#configuration).
 */
import { bool, duration, durationFrom, int, type Kind, port, sizeFrom, Wrong } from './kinds.ts';
import { derived, optional, setting } from './setting.ts';
import { choice, hostName, hostPort, list, path, textLike, timeServer } from './text-kinds.ts';

const COUNT = int(1, 1_000_000);
const time = duration();
const BLOCK_BYTES = sizeFrom(1024);
/** The journal of the pool ends at 2 GB, and has twice as much before it is rewritten. */
const POOL_BYTES = sizeFrom(0, 900 * 1024 * 1024);
const NAME = textLike({
  name: 'text',
  expected: 'a name of at most 127 bytes',
  pattern: /^.{1,127}$/,
});
const NAME_BYTES_MAX = 127;
const nodeName: Kind<string> = {
  ...NAME,
  parse(raw, context) {
    const name = NAME.parse(raw, context);
    const isLong = typeof name === 'string' && Buffer.byteLength(name) > NAME_BYTES_MAX;
    return isLong ? new Wrong(`a name of at most ${NAME_BYTES_MAX} bytes`) : name;
  },
};
const IGNORED = { ignored: true } as const;

export const network = {
  file: derived<string>(
    path,
    '<directory>/peers.dat',
    (read) => `${read('directory')}/peers.dat`,
    'Known peers, kept across restarts.',
  ),
  listen: setting(bool, 'yes', 'No: other nodes cannot connect to this node; it only dials.'),
  'bind-address': setting(hostName, '0.0.0.0', 'Address the peer listener binds to.'),
  port: setting(port, 6864, 'TCP port of the peer listener.'),
  'declared-address': optional(hostPort, 'host:port under which peers can reach this node.'),
  nonce: derived<number>(
    int(0, Number.MAX_SAFE_INTEGER),
    'random',
    (read) => read('nonce'),
    'Number sent to peers with the name.',
  ),
  'node-name': derived<string>(
    nodeName,
    'Node-<nonce>',
    (read) => `Node-${read('network.nonce')}`,
    'Name sent to peers.',
  ),
  'known-peers': setting<readonly string[]>(
    list(hostPort),
    [],
    'Peers to connect to, a list of "host:port"; may be empty.',
  ),
  mode: setting<'default' | 'watcher'>(
    choice('default', 'watcher'),
    'default',
    'A watcher receives everything and takes no part in consensus.',
  ),
  'handshake-check': setting(
    bool,
    'yes',
    'No: peers need no registered key. Allowed on loopback listeners only.',
  ),
  'peers-data-residence-time': setting(time, '1d', 'How long an unseen peer is remembered.'),
  'black-list-residence-time': setting(time, '15m', 'How long a misbehaving peer is refused.'),
  'enable-blacklisting': setting(bool, 'yes', 'Refuse misbehaving peers for a while.'),
  'suspension-residence-time': setting(
    time,
    '1m',
    'Pause before a failing peer is dialled again; for known-peers 5s at most.',
  ),
  'break-idle-connections-timeout': setting(
    durationFrom('1s'),
    '1m',
    'Silence after which a session is closed.',
  ),
  'max-simultaneous-connections': setting(
    COUNT,
    30,
    'Sessions at once; on a miner, those with other miners come beside them.',
  ),
  'max-inbound-connections': optional(COUNT, 'Older spelling of a limit.', IGNORED),
  'max-outbound-connections': optional(COUNT, 'Older spelling of a limit.', IGNORED),
  'attempt-connection-delay': setting(
    durationFrom('100ms'),
    '5s',
    'Pause between dialling attempts.',
  ),
  'connection-timeout': setting(durationFrom('1s'), '30s', 'Limit for opening a connection.'),
  'handshake-timeout': setting(durationFrom('1s'), '30s', 'Limit for the handshake.'),
  'enable-peers-exchange': setting(bool, 'yes', 'Exchange addresses with peers.'),
  'peers-request-interval': setting(
    durationFrom('10s'),
    '2m',
    'How often peers are asked for addresses.',
  ),
  'tx-buffer-size': setting(
    COUNT,
    10000,
    'Number of received transactions that may wait.',
    IGNORED,
  ),
  'received-txs-cache-timeout': setting(
    time,
    '3m',
    'How long received bytes are remembered.',
    IGNORED,
  ),
  upnp: {
    enable: setting(bool, 'no', 'Accepted for older files.', IGNORED),
    'gateway-timeout': setting(time, '7s', 'Accepted for older files.', IGNORED),
    'discover-timeout': setting(time, '3s', 'Accepted for older files.', IGNORED),
  },
};

export const ntp = {
  servers: setting<readonly string[]>(
    list(timeServer),
    ['0.pool.ntp.org', '1.pool.ntp.org', '2.pool.ntp.org', '3.pool.ntp.org'],
    'Time servers, host or host:port; an empty list means that the system clock is kept right by other ' +
      'means.',
    { aliases: [{ key: 'ntp.server', quiet: true }] },
  ),
  'request-timeout': setting(
    durationFrom('100ms'),
    '10s',
    'Limit for one answer. Until the first answers the clock of the machine serves.',
  ),
  'expiration-timeout': setting(durationFrom('100ms'), '1m', 'How long an answer counts as fresh.'),
  'fatal-timeout': optional(
    durationFrom('4s'),
    'Time without answers on which more than half of the servers agree, after which the node ends ' +
      '(exit code 69). Required for PoA.',
  ),
  'max-step': setting(
    durationFrom('1s'),
    '10s',
    "Largest step of the clock that is taken at once. A larger one needs the machine's own clock, or " +
      'three servers that agree on it three times running; else it is refused with a warning.',
  ),
  'max-deviation': setting(
    durationFrom('1s'),
    '1h',
    "Farthest that all steps together lead from the machine's own clock; more is refused with a " +
      "warning, and the machine's clock has to be set.",
  ),
};

export const miner = {
  enable: setting(bool, 'yes', 'Make blocks when the owner has the miner role.'),
  quorum: optional(
    int(0, 1000),
    'Least number of other miners that must be connected for making blocks. Left out: as many as ' +
      'make a majority with this node, half of all miners rounded down.',
  ),
  'interval-after-last-block-then-generation-is-allowed': setting(
    time,
    '1d',
    'A chain whose last block is older than this, and than three rounds, counts as outdated and is not extended.',
  ),
  'wait-for-votes': setting(
    bool,
    'yes',
    'With feature 1004: make no block more than max-rollback above the final one before a quorum has ' +
      'voted. Without it two parts of a network can both go on for long. Fewer than four voters never wait.',
  ),
  'no-quorum-mining-delay': setting(
    durationFrom('100ms'),
    '5s',
    'Pause when the quorum is missing.',
  ),
  'minimal-block-generation-offset': setting(
    time,
    '200ms',
    'PoS: shortest wait for a block.',
    IGNORED,
  ),
  'micro-block-interval': setting(time, '5s', 'Tip extension: time between versions.', IGNORED),
  'min-micro-block-age': setting(time, '6s', 'Tip extension: age a version needs.', IGNORED),
  'max-transactions-in-micro-block': setting(
    int(1, 6000),
    255,
    'Tip extension: transactions added per version.',
    IGNORED,
  ),
  'max-block-size-in-bytes': setting(BLOCK_BYTES, 1048576, 'Transaction bytes in a block.', {
    network: true,
  }),
  'pulling-buffer-size': setting(COUNT, 100, 'Transactions taken from the pool at once.', IGNORED),
  'utx-check-delay': setting(
    duration(100, 3_600_000, 'from 100 ms to 1 hour'),
    '1000ms',
    'Pause before an empty pool is checked again.',
    IGNORED,
  ),
};

/** Networks of releases that did not compare it have this one. */
export const ROLLBACK_MAX = 100;

export const synchronization = {
  'max-rollback': setting(
    COUNT,
    ROLLBACK_MAX,
    'Deepest reorganisation in blocks. With feature 1004, up to 500 that are not final where that is more.',
    { network: true },
  ),
  'max-chain-length': setting(COUNT, 101, 'Block ids in one request.', IGNORED),
  'extension-batch-size': setting(COUNT, 10, 'Blocks in one request.'),
  'synchronization-timeout': setting(durationFrom('5s'), '40s', 'Limit for an answer with blocks.'),
  'score-ttl': setting(durationFrom('45s'), '90s', 'How long the score sent by a peer counts.'),
  'invalid-blocks-storage': {
    'max-size': setting(COUNT, 30000, 'Invalid block ids remembered.'),
    timeout: setting(time, '5m', 'How long they are remembered.'),
  },
  'utx-synchronizer': {
    'max-buffer-size': setting(COUNT, 500, 'Transactions in one batch to peers.', IGNORED),
    'max-buffer-time': setting(time, '500ms', 'Longest wait for a batch to fill.', IGNORED),
  },
  'transaction-broadcaster': {
    'min-broadcast-count': setting(COUNT, 2, 'Peers that must receive a new transaction.'),
    'max-broadcast-count': setting(COUNT, 30, 'Most peers to which it is sent.'),
    'max-batch-size': setting(int(50, 1_000_000), 500, 'Transactions in one batch, 500 at most.'),
    'max-batch-time': setting(time, '500ms', 'Longest wait for a batch to fill.'),
    'retry-delay': setting(
      durationFrom('1s'),
      '20s',
      'Pause before missing deliveries are repeated.',
    ),
    'known-tx-cache-size': setting(COUNT, 100000, 'Checked transactions remembered.'),
    'known-tx-cache-time': setting(time, '20s', 'How long they are remembered.'),
  },
};

export const utx = {
  'memory-limit': setting(POOL_BYTES, '100MiB', 'Bytes of transactions the pool holds.'),
  'cleanup-interval': setting(
    durationFrom('1s'),
    '5m',
    'How often expired transactions are removed.',
  ),
  'allow-transactions-from-smart-accounts': setting(bool, 'yes', 'Accept scripted senders.'),
  'tx-expire-timeout': setting(
    duration(300_000, 96 * 3_600_000, 'from 5 minutes to 96 hours'),
    '2h',
    'Age at which a transaction is too old for a block.',
    { network: true },
  ),
  'rebroadcast-threshold': setting(time, '5m', 'Age at which a waiting transaction is sent again.'),
  'rebroadcast-interval': setting(durationFrom('1m'), '5m', 'How often that is done.'),
};
