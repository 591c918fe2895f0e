/**
 * Every event of the log and every metric of a running node, by name. Tests compare the sources,
 * the dashboard and the alert rules with these lists, and docs/reference/observability.md is
 * printed from them.
 */
import {
  counter,
  gauge,
  histogram,
  type Instruments,
  instrumentsOf,
  type MetricTable,
} from '../../base/metric-table.ts';
import type { Metrics } from '../../base/ports/metrics.ts';
import { keyEvents } from './key-events.ts';
import { minerEvents } from './miner-events.ts';

/** Event → its meaning and, where the operator should act, what to do. */
export const events = {
  'audit.write-failed':
    'Entries of the audit log cannot be written to disk; they wait in memory, as far as they have room: check disk space and disk health.',
  'audit.write-works': 'The entries of the audit log that waited are on disk.',
  'block.appended': 'A block of another node was checked and is part of the chain.',
  'block.early': 'A block is ahead of the clock of this node and waits until its time.',
  'block.equivocation': 'A miner signed two blocks for one round; the fields prove it.',
  'block.fetch-failed':
    'Transactions of an announced block did not arrive; the node requests the whole block.',
  'block.forged': 'This node made a block.',
  'block.gossip-failed': 'An announced block could not be accepted; synchronisation fetches it.',
  'block.rebuilt':
    'An announced block was rebuilt; `missing` counts the transactions that were not in the pool and that a peer sent.',
  'block.refused': 'A block of another node broke the rules; `why` is the rule.',
  'chain.not-rolled-back':
    'The transactions of blocks could not be written to disk, so the blocks stay; a better branch is tried again.',
  'chain.rebuild-ended': 'A block of the damaged store cannot be used; peers supply the rest.',
  'chain.rebuilding': 'The chain is being read from a damaged store, with every check.',
  'chain.reorganised': 'A better branch replaced the last blocks.',
  'chain.rolled-back': 'Blocks were rolled back; their transactions wait in the pool again.',
  'chain.write-failed':
    'The disk refused a commit; the head stays where it is, no peer is blamed, and the node tries again: check disk space and disk health.',
  'chain.write-works': 'The disk takes commits again.',
  'container.ended': 'A container ended by itself; the next call starts another one.',
  'container.failed': 'The engine failed a call of a contract; `why` is what it said.',
  'container.not-removed':
    'A container could not be removed; it is tried again, at the latest at the next start.',
  'container.not-started':
    'The container of a contract could not be started; its transactions wait, and it is tried again after a pause.',
  'container.started': 'A container of a contract has started.',
  'container.strays-removed': 'Containers that an earlier run of this node left were removed.',
  'contract.disconnected':
    'A container of the gRPC interface can run no more calls; `why` is what it did.',
  'contract.stderr': 'What a contract wrote to its standard error.',
  'contracts.report-failed':
    'The outcome of a contract transaction could not be signed; peers do not learn it: report it.',
  'contracts.statuses-failed':
    'Outcomes of contract transactions cannot be written to disk: check disk space and disk health.',
  'contracts.statuses-unchecked':
    'Signatures of outcomes from peers could not be checked; the outcomes are dropped.',
  'disk.low':
    'Less space than storage.free-space-min is free, so this node makes no blocks and takes no transactions: free space; it goes on by itself.',
  'disk.recovered': 'There is space on the disk again: the node goes on.',
  'disk.unreadable': 'The free space of the disk cannot be read, so it is not watched.',
  'engine.away':
    'The container engine does not answer, so this node executes no contracts: check it, and docker-engine.docker-host.',
  'engine.disk-unseen':
    'This node cannot see the disk of the container engine, so an image that fills it is noticed late: give the engine a disk of its own.',
  'engine.returned': 'The container engine answers again.',
  'engine.short':
    'The container engine has no network addresses or no space left, so contracts without a container wait: give it more default-address-pools, or a larger disk.',
  'feature.unknown-active':
    'A feature that this release does not implement is active: update the release.',
  'feature.unknown-approved':
    'A feature that this release does not implement will become active: update the release.',
  'finality.conflict': 'Two final blocks contradict each other: see docs/guide/incidents.md.',
  'finality.contradiction':
    'A voter has signed two votes that contradict each other: its key is used twice, or it lies. The evidence is kept.',
  'finality.note-failed':
    'The note of a vote is not on disk, so the vote was not sent: look at the disk.',
  'finality.own-vote-unknown':
    'A vote of this node is about that its note does not have: its key is used elsewhere, or its data are a copy. It votes no more.',
  'finality.older-conflict': 'A final block of voters of before contradicts that of this node.',
  'finality.overridden': 'finality.overrides names the voters: keep it, on all nodes, for ever.',
  'finality.proof-failed':
    'The proof of a final block is not on disk, so the block is not shown as final: look at the disk.',
  'finality.voting-again': 'A node that had lost its note votes again.',
  'finality.started':
    'Feature 1004 is active: this node takes votes, and votes if it makes blocks.',
  'finality.votes-failed': 'Votes of a peer met an error of the node itself: report it.',
  'fork.below-final': 'Another chain lacks the final block of this node, so it is not taken.',
  'fork.too-deep':
    'Other nodes are on a better branch that diverged too long ago, or has too many bytes: roll back, or start with an empty data directory.',
  'genesis.incorrect': 'Configuration and genesis block do not fit together; the node ends.',
  'http.failed':
    'A request met an error of the node itself and was answered with 500, or with 503 where the machine failed.',
  'identity.failed': 'A listed peer did not send its key; the node asks the others as well.',
  'image.another':
    'The engine has another image under the name that a contract gives, and no registry may be asked for the right one.',
  'image.not-fetched':
    'An image of a contract could not be fetched; `why` is what its registry or the engine said.',
  'image.not-removed': 'The engine does not remove an image that this node has fetched.',
  'image.pull': 'The image of a contract is being fetched from its registry.',
  'image.removed': 'An image that this node had fetched made room for another.',
  'images.unreadable':
    'The file of the images that this node has fetched is damaged; those count no longer, so remove unused ones by hand.',
  'ledger.broken': 'The sums of the ledger are wrong: the node ends with code 70; report it.',
  'listener.failed':
    'A part of the node failed at a change of the chain; the other parts received the change: report it.',
  'log.level': 'SIGUSR1 changed the level of the log.',
  'metrics.listening': 'The metrics are served at this address.',
  ...minerEvents,
  'network.listening': 'Other nodes can connect at this address.',
  'network.not-permitted':
    'A known node does not have the owner of this node, and no other is connected: the network may have removed it while it was off; ask a connection manager.',
  'network.registered': 'The chain of this node has its owner now.',
  'network.removed':
    'The network has removed the owner of this node (type 111), so no node takes anything from it: ask a connection manager to register it again.',
  'node.failed': 'An unexpected error: the node ends with code 70; report it.',
  'node.settings': 'The settings that were given, secrets masked.',
  'node.settings-in-force': 'All settings at the start, secrets masked.',
  'node.started': 'The node has started; the fields describe it.',
  'node.stop-failed': 'A part did not stop properly; the others did, and the process ends.',
  'node.stop-timeout': 'The orderly stop took too long; the process ends anyway.',
  'node.stopped': 'The node has stopped properly.',
  'node.stopping': 'The node received a request to stop.',
  'ntp.disagreement':
    'No majority of the configured time servers agrees; the clock stays as it is: check ntp.servers.',
  'ntp.silent':
    'No time server answers; the clock stays as it is, at first that of the machine: check the network and ntp.servers.',
  'ntp.step-refused':
    'Time servers ask for a step beyond ntp.max-step; the clock stays as it is: check ntp.servers and the clock of the machine.',
  'ntp.too-far':
    'Time servers ask for a time farther from the clock of the machine than ntp.max-deviation; the clock stays as it is: check both.',
  'ntp.usable': 'The time servers are of use again.',
  'peer.asked-for': 'An operator requested a connection to this address.',
  'peer.closed': 'A session with another node has ended.',
  'peer.connected': 'A session with another node has begun.',
  'peer.limited':
    'Somebody at this host broke a rule before a proof of identity; for a while few of its connections begin, except those of members that are known.',
  'peer.not-judged': 'Whether a peer is to blame for a wrong proof could not be found out.',
  'peer.offence': 'A peer broke a rule; `verdict` is the consequence.',
  'peer.refused':
    'A connection did not become a session; `why` is the reason that one of the sides gave.',
  'peer.unknown-host': 'The name of a configured peer has no address at present.',
  'peer.unreachable': 'A connection to a node failed; it is tried again after a pause.',
  'peers.file-unreadable': 'The file of known peers is damaged and ignored.',
  'peers.not-saved': 'The known peers cannot be written to disk: check disk space and disk health.',
  'pool.check-failed':
    'Transactions of the pool could not be judged, because a part of this node failed; they stay and are judged again.',
  'pool.dropped': 'A transaction left the pool without a block; `why` is the reason.',
  'pool.journal-cut':
    'The journal of the pool ended in the middle of a write, as a power failure leaves it; nothing acknowledged is missing.',
  'pool.journal-damaged':
    'The journal of the pool was damaged at `places`; `records` could be read, a copy is `kept`, and peers may have the other transactions: check the health of the disk.',
  'pool.journal-failed': 'The pool cannot be written to disk: check disk space and disk health.',
  'pool.recheck-failed':
    'Proofs of transactions that came back from blocks are checked later, one by one.',
  'pool.record-skipped':
    'A transaction in the journal of the pool cannot be read and is left out; `hash` names it.',
  'pool.recovered':
    'All `records` of the journal are judged: `accepted` wait in the pool, `doubted` are tried again.',
  'pool.recovery-failed':
    'Records of the journal could not be judged and stay there until the next start.',
  'pool.recovery-waits': 'Checks of records of the journal wait for room; `why` is the reason.',
  'privacy.damaged':
    'Stored confidential data are damaged; they count as missing until a member sends them again.',
  'privacy.backlog-failed':
    'The list of confidential data to fetch cannot be written to disk: check disk space and disk health.',
  'privacy.fetch-failed': 'An item of confidential data could not be fetched; it remains missing.',
  'privacy.fetched': 'Confidential data came from another member of their policy.',
  'privacy.follow-failed':
    'Confidential data of a policy could not be looked up after a change of its members.',
  'privacy.lost':
    'No member could give confidential data for hours; it is tried again now and then, and when a client asks.',
  'privacy.no-room':
    'A quota for confidential data or the free space of the disk is used up; items wait until there is room: see privacy.storage.',
  'privacy.not-accepted':
    'Data of a policy are refused, because privacy.storage.accepted-creators does not name the account that created it.',
  'privacy.storage-failed':
    'The storage of confidential data refused a call: check its space, health and settings.',
  'registry.no-login':
    'An image registry refuses the login: check docker-engine.remote-registries.',
  'store.damaged': 'The chain on disk is damaged: it is rebuilt at the next start.',
  'store.network-file-system':
    'The chain is on a file system that other machines may have too: see storage.allow-network-file-system.',
  'store.rebuilt':
    'A damaged store was replaced: up to `height`, of `of` blocks; peers supply the rest.',
  'sync.failed': 'Blocks could not be fetched from a peer; the node asks another one.',
  'sync.given-up': 'No peer delivered the better chain that was announced.',
  'sync.helper-failed': 'One of several peers did not deliver; the others take over.',
  'settings.need-restart':
    'The configuration on disk has changed, and these settings take effect at the next start.',
  'settings.reload-failed':
    'The configuration on disk cannot be used; the old keys and passwords stay in use.',
  'settings.reloaded':
    'Keys of the REST interface, the wallet and the certificate were read again; `changed` names the settings with another value.',
  'tls.reload-failed': 'The certificate on disk cannot be used; the old one stays in use.',
  'tx.fetch-failed': 'Announced transactions did not arrive.',
  'tx.refused': 'The pool refused a transaction of a peer; `why` is the reason.',
  'verify.thread-died': 'A thread that checks signatures died; another one took over its work.',
  ...keyEvents,
} as const;

/** Limits in seconds of work within the process. */
const WORK = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** Limits in seconds between blocks. */
const BETWEEN_BLOCKS = [0.5, 1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 300, 600];
/** One series for each of these and each part of the interface. */
const REST = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5];

export const metricTable = {
  info: gauge('node_info', 'Always 1; the labels describe the running node.', [
    'version',
    'chain_id',
  ]),
  height: gauge('node_chain_height', 'Height of the last block.'),
  tipAge: gauge('node_chain_tip_age_seconds', 'Time since the last block.'),
  blocks: counter('node_blocks_total', 'Blocks added to the chain, by who made them.', ['origin']),
  blockTxs: counter('node_block_transactions_total', 'Transactions in blocks added to the chain.'),
  rollbacks: counter('node_chain_rollbacks_total', 'Number of rollbacks.'),
  rolledBack: counter('node_chain_rolled_back_blocks_total', 'Blocks that were rolled back.'),
  blockTime: histogram(
    'node_block_interval_seconds',
    'Time between the timestamps of a block and the one before it.',
    [],
    BETWEEN_BLOCKS,
  ),
  apply: histogram(
    'node_block_apply_seconds',
    'Applying the transactions of a block on top of the state.',
    [],
    WORK,
  ),
  commit: histogram('node_block_commit_seconds', 'Writing blocks to the disk.', [], WORK),
  poolSize: gauge('node_pool_transactions', 'Transactions in the pool.'),
  poolBytes: gauge('node_pool_bytes', 'Bytes of the transactions in the pool.'),
  poolBytesMax: gauge('node_pool_bytes_max', 'Bytes that the pool may hold (utx.memory-limit).'),
  accepted: counter('node_transactions_accepted_total', 'Transactions that entered the pool.'),
  refused: counter(
    'node_transactions_refused_total',
    'Transactions that were refused, by the code of the error.',
    ['code'],
  ),
  verifyQueue: gauge('node_verify_queue', 'Signature checks not yet answered.'),
  minerState: gauge('node_miner_state', '1 for the state that the miner is in.', ['state']),
  finalHeight: gauge(
    'node_finality_height',
    'Height of the final block. Like all of finality, absent where nobody votes on blocks.',
  ),
  finalLag: gauge('node_finality_lag_blocks', 'Blocks of the chain above the final block.'),
  finalWaits: gauge('node_finality_waits', '1 while no block is made for lack of votes.'),
  finalConflict: gauge('node_finality_conflict', '1 once two final blocks have stopped it.'),
  voterMissing: gauge(
    'node_finality_voter_missing',
    '1 for a voter of whom this node knows no vote above the final block.',
    ['voter'],
  ),
  ownVotes: gauge('node_finality_own_votes', '1 for the state that the own votes are in.', [
    'state',
  ]),
  contradictions: gauge(
    'node_finality_contradictions',
    'Voters with two votes that contradict each other; `own` says whether it is this node.',
    ['own'],
  ),
  peers: gauge('node_peers', 'Connected nodes, by their mode and by who has dialled.', [
    'mode',
    'direction',
  ]),
  shutOut: gauge(
    'node_shut_out',
    '1 while no node takes anything from this one, since its owner is not registered.',
  ),
  knownPeers: gauge('node_peers_known', 'Known addresses of nodes, seen within a day.'),
  peerMessages: counter(
    'node_peer_messages_total',
    'Messages between nodes, by protocol and direction.',
    ['protocol', 'direction'],
  ),
  peerBytes: counter('node_peer_bytes_total', 'Bytes of these messages.', [
    'protocol',
    'direction',
  ]),
  offences: counter(
    'node_peer_offences_total',
    'Rules that peers broke, and whether that ended a session, limited a host, or led to the blacklist.',
    ['offence', 'verdict'],
  ),
  syncState: gauge('node_sync_state', '1 for the state of synchronisation.', ['state']),
  missing: gauge('node_sync_missing_blocks', 'Blocks that a peer has announced and not sent yet.'),
  synchronized: gauge(
    'node_time_synchronized',
    '1 while the time servers confirm the time; else the node ends after ntp.fatal-timeout.',
  ),
  privateBytes: gauge(
    'node_private_bytes',
    'Bytes of confidential data accepted; absent where privacy.storage.vendor = none.',
  ),
  privateRefused: counter(
    'node_private_refused_total',
    'Confidential data refused for lack of room, by the limit.',
    ['limit'],
  ),
  privateQueue: gauge(
    'node_private_queue',
    'Confidential data to be fetched, in memory, by state; `transfers` are running.',
    ['state'],
  ),
  contractRuns: counter(
    'node_contract_runs_total',
    'Executions of contracts by this node, by their outcome.',
    ['outcome'],
  ),
  contractTime: histogram(
    'node_contract_run_seconds',
    'From the beginning of an execution to its outcome.',
    [],
    WORK,
  ),
  contractsRunning: gauge(
    'node_contracts_running',
    'Executions of contracts under way; absent where docker-engine.enable = no.',
  ),
  engineWorks: gauge(
    'node_container_engine_up',
    '1 while the container engine answers; absent where docker-engine.enable = no.',
  ),
  signerUp: gauge('node_signer_up', '1 while the signer answers; absent without one.'),
  storeBytes: gauge('node_store_bytes', 'Bytes of the chain on disk.'),
  diskFree: gauge(
    'node_disk_free_bytes',
    'Free bytes on the disk of data-directory; absent where it cannot be read.',
  ),
  diskFreeMin: gauge(
    'node_disk_free_bytes_min',
    'Bytes below which the node makes no blocks and takes no transactions (storage.free-space-min).',
  ),
  journalDamage: gauge(
    'node_journal_damaged_places',
    'Damaged places that a journal (pool, miner) had at the last start.',
    ['journal'],
  ),
  healthy: gauge('node_healthy', '0 while the store or a journal (pool, miner) cannot be trusted.'),
  requests: counter('node_rest_requests_total', 'Answered REST requests.', [
    'method',
    'route',
    'status',
  ]),
  latency: histogram(
    'node_rest_request_seconds',
    'From the whole request to the answer, by the first part of the path.',
    ['group'],
    REST,
  ),
  certificateEnd: gauge(
    'node_certificate_end_seconds',
    'When the certificate of the REST interface ends, Unix time; absent for plain HTTP.',
  ),
  eventReaders: gauge('node_event_readers', 'Clients that listen to events.', ['interface']),
  eventReadersEnded: counter(
    'node_event_readers_ended_total',
    'Clients that this node has ended, by the reason; those that do not read are `slow`.',
    ['interface', 'reason'],
  ),
  loopDelay: gauge(
    'node_event_loop_delay_seconds',
    'Delay of timers of the main thread over the last minute at least, however many read it.',
    ['quantile'],
  ),
  threadDelay: gauge(
    'node_http_thread_delay_seconds',
    'The same of each thread that holds connections; absent where rest-api.threads = 0.',
    ['thread', 'quantile'],
  ),
  residentBytes: gauge('node_process_resident_bytes', 'Memory that the process holds.'),
  heapBytes: gauge('node_process_heap_bytes', 'Part of it that is used JavaScript heap.'),
  cpuSeconds: gauge('node_process_cpu_seconds', 'Processor time since the start.'),
  startTime: gauge('node_process_start_time_seconds', 'When the process began, Unix time.'),
} as const satisfies MetricTable;

export type NodeMetrics = Instruments<typeof metricTable>;

/** Declares all metrics. Without a sink they do nothing, so measuring code needs no condition. */
export const nodeMetrics = (sink?: Metrics): NodeMetrics => instrumentsOf(metricTable, sink);
