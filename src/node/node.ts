/**
 * The node as a list of services, wired by hand: whoever wants to know what depends on what reads
 * this file. It gets its configuration and its ports and touches nothing else of the world.
 *
 * Services start in the order of their lines and stop in the reverse order. The REST listener comes
 * last, so that an open port means a working node.
 */

import { createApi } from '../api/api.ts';
import type { ExplorerFiles } from '../api/explorer/routes.ts';
import type { Services } from '../api/services.ts';
import { AssertionError } from '../base/assert.ts';
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
import type { Chain } from '../codec/codec.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import type { Keystore } from '../keystore/keystore.ts';
import { pack } from '../mempool/packer.ts';
import { createPool, type Pool } from '../mempool/pool.ts';
import { createTrial } from '../mempool/trial.ts';
import { createMiner } from '../miner/miner.ts';
import { calculateFee } from '../tx/fees.ts';
import { transactionSchemas } from '../tx/openapi.ts';
import type { Tx } from '../tx/transaction.ts';
import { openBlockchain } from './blockchain.ts';
import type { Config } from './config/settings.ts';
import { encryptionWith } from './encryption.ts';
import { watchJournal } from './health.ts';
import { measuredPool, measuredRoutes, readOnDemand, watchChain, watchNetwork } from './measure.ts';
import { measuredNetwork } from './measure-network.ts';
import { openNetwork } from './network.ts';
import { nodeMetrics } from './observability.ts';
import { openPrivacy } from './privacy.ts';
import { accountReads, leaseReads } from './reads/accounts.ts';
import { assetReads } from './reads/assets.ts';
import { chainReads } from './reads/chain.ts';
import { nodeInfo } from './reads/node-info.ts';
import { activationReads, consensusReads, permissionReads } from './reads/rules.ts';
import { contractReads, policyReads } from './reads/state-only.ts';

export interface NodePorts {
  readonly chain: Chain;
  readonly family: CryptoFamily;
  readonly store: Store;
  readonly journal: Journal;
  readonly verifier: Verifier;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly http: Http;
  /** Absent: the node has no peers. */
  readonly network?: Network | undefined;
  /** Keeps the known peers; absent: nobody does. */
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
  /** Absent: no explorer is served. */
  readonly explorer?: ExplorerFiles | undefined;
  /** Absent where nobody wants metrics. */
  readonly telemetry?: { readonly metrics: Metrics; readonly process: ProcessReadings } | undefined;
  /** What is checked after every commit; absent: nothing. */
  readonly audit?: Audit | undefined;
  /** Asks for an orderly exit, with a cause if that is no wish of anybody; returns at once. */
  readonly requestStop: (cause?: Error) => void;
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
  const { chain, family, store, verifier, clock, random, log, http, keystore, telemetry } = ports;
  const metrics = nodeMetrics(telemetry?.metrics);
  const opened = await openBlockchain(config, genesis, { ...ports, metrics });
  const { blockchain, network, support } = opened;
  const unwatchFeatures = watchFeatures(blockchain, network, support, log, ports.requestStop);
  const endAudit =
    ports.audit &&
    auditChain(blockchain, ports.audit, (broken) => {
      log.error('ledger.broken', { why: broken.join('; ') });
      ports.requestStop(new AssertionError(`the ledger is broken: ${broken.join('; ')}`));
    });

  const { journal, problem: poolProblem } = watchJournal(ports.journal);
  const trial = createTrial(blockchain, network, clock);
  const unmeasured = createPool(
    {
      bytesMax: config.utx.memoryLimit,
      senderEntriesMax: SENDER_ENTRIES_MAX,
      expireMs: config.utx.txExpireTimeout.ms,
      cleanupMs: config.utx.cleanupInterval.ms,
      nativeToken: config.nativeTicker,
    },
    { chain, state: trial, verifier, journal, clock, log },
  );
  const pool = telemetry === undefined ? unmeasured : measuredPool(unmeasured, metrics);
  await pool.recover();
  const forget = blockchain.listen({
    block: ({ block }) => pool.removeMined(block.txs.map((tx) => tx.id)),
    rollingBack: (txs) => pool.keep(txs),
    rolledBack: (_tip, txs) => void pool.readmit(txs),
  });

  const signer = (privateKey: Uint8Array) => {
    const publicKey = family.publicKeyOf(privateKey);
    const sign = (message: Uint8Array) => family.sign(privateKey, message, random);
    return { address: chain.addressOf(publicKey), publicKey, sign };
  };
  const owner = signer(ports.ownerKey);
  const identity = ports.identityKey === undefined ? owner : signer(ports.identityKey);
  const peering = openNetwork(config, genesis, {
    ...ports,
    ...opened,
    network: ports.network && telemetry ? measuredNetwork(ports.network, metrics) : ports.network,
    files: ports.files,
    pool,
    owner: identity,
    minerPublicKey: owner.publicKey,
  });
  const calculate = (tx: Tx) =>
    calculateFee(tx, blockchain.view, trial.context(), (why) => apiError('Invalid', why));
  const isWatcher = config.network.mode === 'watcher';
  const privacy = openPrivacy(config, {
    ...ports,
    blockchain,
    owner: identity,
    pool: isWatcher ? { ...pool, check: refuseAsWatcher } : pool,
    feeOf: (tx) => calculate(tx).feeAmount,
    sessions: peering.sessions,
  });
  await peering.start().catch(async (cause: unknown) => {
    // Their timers and threads would keep the process alive.
    await peering.stop();
    await privacy?.stop();
    forget();
    unwatchFeatures();
    endAudit?.();
    await pool.stop();
    await verifier.close();
    throw cause;
  });
  // Whatever is still to be fetched need not be here before clients are served.
  void privacy?.start();
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
        forge: async (timestamp) => {
          await blockchain.forge(owner, timestamp, (draft, limits) =>
            pack(pool, limits, draft.add, clock),
          );
        },
        onHead: (listener) => blockchain.listen({ block: listener, rolledBack: listener }),
      },
    },
  );

  const services: Services = {
    settings: config.restApi,
    codec: chain,
    hashes: { fast: family.fastHash, secure: family.secureHash },
    clock,
    random,
    log,
    verifier,
    chain: chainReads(blockchain),
    accounts: accountReads(blockchain),
    leases: leaseReads(blockchain),
    assets: assetReads(blockchain),
    pool: {
      ...pool,
      problem: poolProblem,
      ...(config.network.mode === 'watcher' ? { admit: refuseAsWatcher } : {}),
    },
    fees: { calculate },
    keystore,
    encryption: encryptionWith({ keystore, family, random, clock }),
    consensus: consensusReads(blockchain, config.blockchain.consensus),
    permissions: permissionReads(blockchain),
    activation: activationReads(blockchain, network, support),
    node: nodeInfo(config, network, { owner, identity }, ports),
    contracts: contractReads(blockchain),
    policies: policyReads(blockchain),
    privacy,
    peers: peering.peers,
  };

  let unwatch = (): void => {};
  if (telemetry !== undefined) {
    const { version } = ports;
    const { process } = telemetry;
    const chainId = String.fromCharCode(chain.chainId);
    const poolBytesMax = config.utx.memoryLimit;
    const healthy = () => (store.problem?.() ?? poolProblem()) === undefined;
    const parts = { blockchain, pool, poolBytesMax, verifier, miner, store, clock, process };
    readOnDemand({ ...parts, version, chainId, healthy }, metrics);
    if (peering.readings !== undefined) watchNetwork(peering.readings, metrics);
    unwatch = watchChain(blockchain, owner.address, metrics);
  }

  const routes = createApi(services, { schemas: transactionSchemas() }, ports.explorer);
  const rest = config.restApi.enable
    ? await http.listen(telemetry === undefined ? routes : measuredRoutes(routes, metrics), {
        host: config.restApi.bindAddress,
        port: config.restApi.port,
        tls: tlsOf(config.restApi.tls),
        cors: config.restApi.cors,
      })
    : undefined;

  return {
    blockchain,
    pool,
    services,
    rest,
    async stop() {
      await rest?.close();
      await miner.stop();
      await peering.stop();
      await privacy?.stop();
      await blockchain.idle();
      forget();
      unwatchFeatures();
      endAudit?.();
      unwatch();
      await pool.stop();
      await ports.privateStore?.stop();
      await verifier.close();
      await store.close();
      keystore.close();
    },
  };
}

function tlsOf({ cert, key }: Config['restApi']['tls']): { cert: string; key: string } | undefined {
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

/** A watcher has no part in spreading transactions: it signs and takes none (protocol.md §10.8). */
function refuseAsWatcher(): never {
  throw apiError('NotAvailable', 'Sending transactions, since it is a watcher,');
}

/** Entries one account may have in the pool (H-17). */
const SENDER_ENTRIES_MAX = 10_000;
