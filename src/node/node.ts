/**
 * The node as a list of services, wired by hand: this file says what depends on what. It gets its
 * configuration and its ports and touches nothing else of the world.
 *
 * Services start in the order of their lines. Each puts its end on one stack as soon as it runs, and
 * whatever ends the node (a stop, a failure, a service that cannot start) undoes that stack. The
 * miner comes last: no block is made before every other service has started.
 */

import { createApi } from '../api/api.ts';
import type { Pages } from '../api/pages.ts';
import type { Services } from '../api/services.ts';
import { AssertionError } from '../base/assert.ts';
import { Disposal } from '../base/disposal.ts';
import { apiError } from '../base/errors.ts';
import type { Http, HttpServer } from '../base/http.ts';
import type { Network } from '../base/network.ts';
import type {
  Clock,
  Files,
  Journal,
  Log,
  Metrics,
  ProcessReadings,
  Random,
  Store,
  Verifier,
} from '../base/ports.ts';
import type { PrivateStore } from '../base/private-store.ts';
import type { Block } from '../block/block.ts';
import { type Audit, auditChain } from '../chain/audit.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { watchFeatures } from '../chain/feature-watch.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import type { Keystore } from '../keystore/keystore.ts';
import { applying, pack } from '../mempool/packer.ts';
import { createPool, type Pool } from '../mempool/pool.ts';
import { createTrial } from '../mempool/trial.ts';
import { createMiner } from '../miner/miner.ts';
import { createUsedTurns } from '../miner/used-turns.ts';
import type { Privacy } from '../privacy/privacy-service.ts';
import { transactionSchemas } from '../tx/json/transaction-schemas.ts';
import { calculateFee } from '../tx/rules/fees.ts';
import type { Tx } from '../tx/transaction.ts';
import type { Config } from './config/settings.ts';
import { listenRest } from './listen-rest.ts';
import {
  measuredPool,
  measuredRoutes,
  readOnDemand,
  watchChain,
  watchNetwork,
  watchPrivacy,
} from './measure.ts';
import { measuredNetwork } from './measure-network.ts';
import { nodeMetrics } from './observability.ts';
import { openBlockchain } from './open-blockchain.ts';
import { openNetwork } from './open-network.ts';
import { openPrivacy } from './open-privacy.ts';
import { warnOfOwner } from './owner.ts';
import { snapshotOf } from './snapshot.ts';
import { watchJournal } from './watched-journal.ts';

export interface NodePorts {
  readonly scheme: ChainScheme;
  readonly family: CryptoFamily;
  readonly store: Store;
  readonly journal: Journal;
  /** Keeps the turns that the miner has used. */
  readonly turns: Journal;
  readonly verifier: Verifier;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly http: Http;
  /** Absent: the node has no peers. */
  readonly network?: Network | undefined;
  /** Keeps the known peers; absent: they are forgotten at the end. */
  readonly files?: Files | undefined;
  readonly keystore: Keystore;
  /** Keeps the confidential data of policies; absent: this node has no part in them. */
  readonly privateStore?: PrivateStore | undefined;
  /** Private key of the owner, unlocked at start. */
  readonly ownerKey: Uint8Array;
  /** That of privacy.owner-address, by which other nodes know this one; absent: the owner's. */
  readonly identityKey?: Uint8Array | undefined;
  /** The bare number of this release. */
  readonly version: string;
  /** Absent: no pages are served. */
  readonly pages?: Pages | undefined;
  /** Absent where metrics are switched off. */
  readonly telemetry?: { readonly metrics: Metrics; readonly process: ProcessReadings } | undefined;
  /** What is checked after every commit; absent: nothing. */
  readonly audit?: Audit | undefined;
  /** Asks for an orderly exit, with a cause if a failure is the reason; returns at once. */
  readonly requestStop: (cause?: Error) => void;
  /** Ends the ports themselves, below the services; absent: their owner ends them. */
  readonly started?: Disposal | undefined;
}

export interface Node {
  readonly blockchain: Blockchain;
  readonly pool: Pool;
  readonly services: Services;
  /** Undefined with rest-api.enable = no. */
  readonly rest: HttpServer | undefined;
  stop(): Promise<void>;
}

/**
 * Throws ApiError where genesis and data directory do not fit together, UnsupportedFeatures where
 * the network has gone where this release cannot follow, InitialSyncError where the network does
 * not know the owner.
 */
export async function createNode(config: Config, genesis: Block, ports: NodePorts): Promise<Node> {
  const { started = new Disposal() } = ports;
  try {
    return await startNode(config, genesis, ports, started);
  } catch (cause) {
    // The first failure tells more than what follows from it.
    await started.dispose().catch(() => undefined);
    throw cause;
  }
}

async function startNode(
  config: Config,
  genesis: Block,
  ports: NodePorts,
  started: Disposal,
): Promise<Node> {
  const { scheme, family, store, verifier, clock, random, log, keystore, telemetry } = ports;
  const metrics = nodeMetrics(telemetry?.metrics);
  const opened = await openBlockchain(config, genesis, { ...ports, metrics });
  const { blockchain, consensus, rules, support } = opened;
  started.add('features', watchFeatures(blockchain, rules, support, log, ports.requestStop));
  if (ports.audit !== undefined) {
    const endAudit = auditChain(blockchain, ports.audit, (broken) => {
      log.error('ledger.broken', { why: broken.join('; ') });
      ports.requestStop(new AssertionError(`the ledger is broken: ${broken.join('; ')}`));
    });
    started.add('audit', endAudit);
  }

  const { journal, problem: poolProblem } = watchJournal(ports.journal);
  const trial = createTrial(blockchain, rules, clock);
  const unmeasured = createPool(
    {
      bytesMax: config.utx.memoryLimit,
      senderEntriesMax: SENDER_ENTRIES_MAX,
      expireMs: config.utx.txExpireTimeout.ms,
      cleanupMs: config.utx.cleanupInterval.ms,
      nativeToken: config.nativeTicker,
    },
    { scheme, state: trial, verifier, journal, clock, log },
  );
  const pool = telemetry === undefined ? unmeasured : measuredPool(unmeasured, metrics);
  started.add('pool', pool.stop);
  await pool.recover();
  const forget = blockchain.listen({
    block: ({ block }) => pool.removeMined(block.txs.map((tx) => tx.id)),
    rollingBack: (txs) => pool.keep(txs),
    rolledBack: (_tip, txs) => void pool.readmit(txs),
  });
  started.add('pool', forget);
  started.add('chain', () => blockchain.idle());

  const signer = (privateKey: Uint8Array) => {
    const publicKey = family.publicKeyOf(privateKey);
    const sign = (message: Uint8Array) => family.sign(privateKey, message, random);
    return { address: scheme.addressOf(publicKey), publicKey, sign };
  };
  const owner = signer(ports.ownerKey);
  const identity = ports.identityKey === undefined ? owner : signer(ports.identityKey);
  warnOfOwner(
    { address: owner.address, text: config.ownerAddress },
    { view: blockchain.view, clock, log },
  );
  // Confidential data are on the stack below the network, which has to be closed before.
  let privacy: Privacy | undefined;
  started.add('confidential data', () => privacy?.stop());
  const peering = openNetwork(config, genesis, {
    ...ports,
    ...opened,
    network: ports.network && telemetry ? measuredNetwork(ports.network, metrics) : ports.network,
    files: ports.files,
    pool,
    owner: identity,
    miner: owner,
  });
  started.add('network', peering.stop);
  const calculate = (tx: Tx) =>
    calculateFee(tx, blockchain.view, trial.context(), (why) => apiError('Invalid', why));
  const isWatcher = config.network.mode === 'watcher';
  privacy = openPrivacy(config, {
    ...ports,
    blockchain,
    owner: identity,
    pool: isWatcher ? { ...pool, check: refuseAsWatcher } : pool,
    feeOf: (tx) => calculate(tx).feeAmount,
    sessions: peering.sessions,
    onNoRoom: (limit) => metrics.privateRefused.add(1, { limit }),
  });
  await peering.start();
  // Whatever is still to be fetched need not be here before clients are served.
  void privacy?.start();
  const usedTurns = createUsedTurns(ports.turns, log);
  const generator = { ...owner, claim: usedTurns.claim };
  const miner = createMiner(
    {
      enabled: config.miner.enable && config.network.mode !== 'watcher',
      quorum: config.miner.quorum,
      noQuorumDelayMs: config.miner.noQuorumMiningDelay.ms,
      staleTipMs: config.miner.intervalAfterLastBlockThenGenerationIsAllowed.ms,
    },
    {
      clock,
      log,
      connectedMiners: peering.connectedMiners,
      chain: {
        tip: () => {
          const { height, header } = blockchain.tip();
          return { height, timestamp: header.timestamp };
        },
        nextSlot: (now) => (peering.isFarBehind() ? undefined : blockchain.nextSlot(owner, now)),
        isUsed: ({ from: timestamp }) =>
          usedTurns.has(consensus.turnOf({ timestamp, reference: blockchain.tip().id })),
        forge: async (timestamp, deadline) => {
          await blockchain.forge(generator, timestamp, (draft, limits) =>
            pack(pool, { ...limits, deadline }, applying(draft.add), clock),
          );
        },
        onHead: (listener) => blockchain.listen({ block: listener, rolledBack: listener }),
      },
    },
  );

  const services: Services = {
    settings: config.restApi,
    scheme,
    family,
    clock,
    random,
    log,
    verifier,
    view: blockchain.view,
    height: () => blockchain.tip().height,
    snapshot: (rowsMax) => snapshotOf(blockchain, store, rowsMax),
    rules,
    features: support,
    consensus: {
      ...config.blockchain.consensus,
      averageBlockDelay: config.blockchain.custom.genesis.averageBlockDelay,
    },
    pool: {
      ...pool,
      problem: poolProblem,
      ...(config.network.mode === 'watcher' ? { admit: refuseAsWatcher } : {}),
    },
    feeOf: calculate,
    keystore,
    node: {
      version: ports.version,
      owner,
      identity,
      problem: () => store.problem?.(),
      stop: () => ports.requestStop(),
    },
    privacy,
    peers: peering.peers,
  };

  if (telemetry !== undefined) {
    const { version } = ports;
    const { process } = telemetry;
    const chainId = String.fromCharCode(scheme.chainId);
    const poolBytesMax = config.utx.memoryLimit;
    const healthy = () => (store.problem?.() ?? poolProblem()) === undefined;
    const parts = { blockchain, pool, poolBytesMax, verifier, miner, store, clock, process };
    readOnDemand({ ...parts, version, chainId, healthy }, metrics);
    if (peering.readings !== undefined) watchNetwork(peering.readings, metrics);
    if (privacy !== undefined) watchPrivacy(privacy, metrics);
    started.add('metrics', watchChain(blockchain, owner.address, metrics));
  }

  const routes = createApi(services, { schemas: transactionSchemas() }, ports.pages);
  const measured = telemetry === undefined ? routes : measuredRoutes(routes, metrics);
  const rest = await listenRest(config.restApi, ports.http, measured);
  if (rest !== undefined) started.add('REST interface', () => rest.close());
  started.add('miner', miner.stop);
  miner.start();
  return { blockchain, pool, services, rest, stop: () => started.dispose() };
}

/**
 * A watcher has no part in spreading transactions: it signs and takes none
 * (network.md#gossip-of-blocks).
 */
function refuseAsWatcher(): never {
  throw apiError('NotAvailable', 'Sending transactions, since it is a watcher,');
}

/** Entries one account may have in the pool (H-17). */
const SENDER_ENTRIES_MAX = 10_000;
