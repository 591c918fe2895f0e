/**
 * The node as a list of services, wired by hand: this file shows the dependencies between them. The
 * node receives its configuration and its ports, and uses nothing else from outside.
 *
 * Services start in the order of their lines. Each pushes its end function on one stack as soon as
 * it runs. A stop, a failure, or a service that cannot start ends the services of that stack. The
 * miner comes last, so no block is made before every other service has started.
 */

import { AssertionError } from '../base/assert.ts';
import { Disposal } from '../base/disposal.ts';
import type { HttpRoute, HttpServer } from '../base/ports/http.ts';
import { type Block, blockId } from '../block/block.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { watchFeatures } from '../chain/features/feature-watch.ts';
import { auditChain } from '../chain/store/audit.ts';
import { createExecutions, type Executions } from '../contracts/execution/executions.ts';
import type { Statuses } from '../contracts/statuses/statuses.ts';
import { sha256 } from '../crypto/sha256.ts';
import { accountOf, effective } from '../ledger/accounts.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { rolesAt } from '../ledger/permissions.ts';
import type { Pool } from '../mempool/pool.ts';
import type { Miner } from '../miner/miner.ts';
import type { Privacy } from '../privacy/privacy-service.ts';
import { createApi } from '../rest/api.ts';
import { createKeyFilters } from '../rest/key-filters.ts';
import type { Services } from '../rest/services.ts';
import { auditedRoutes } from '../rest-framework/audited-routes.ts';
import { measuredRoutes } from '../rest-framework/measured-routes.ts';
import { apiServices, type NodeParts } from './api-services.ts';
import type { Config } from './config/settings.ts';
import { watchFreeSpace } from './free-space.ts';
import { nodeAccounts } from './keys/node-accounts.ts';
import { listenContracts } from './listen-contracts.ts';
import { listenRest } from './listen-rest.ts';
import {
  readOnDemand,
  routeMeter,
  watchCertificate,
  watchChain,
  watchNetwork,
  watchPrivacy,
  watchThreads,
} from './metrics/measure.ts';
import { watchFinality } from './metrics/measure-finality.ts';
import { measuredNetwork } from './metrics/measure-network.ts';
import { type NodeMetrics, nodeMetrics } from './metrics/observability.ts';
import type { NodePorts } from './node-ports.ts';
import { openBlockchain } from './open-blockchain.ts';
import { openContracts } from './open-contracts.ts';
import { type NodeEvents, openEvents } from './open-events.ts';
import { type NodeFinality, openFinality } from './open-finality.ts';
import { openMiner } from './open-miner.ts';
import { openNetwork } from './open-network.ts';
import { minerProof } from './open-peering.ts';
import { openPool } from './open-pool.ts';
import { openPrivacy } from './open-privacy.ts';
import { openStatuses } from './open-statuses.ts';
import { watchJournal } from './watched-journal.ts';
import { refuseAsWatcher } from './watcher.ts';

export type { NodePorts } from './node-ports.ts';

export interface Node {
  readonly blockchain: Blockchain;
  readonly pool: Pool;
  readonly services: Services;
  readonly statuses: Statuses;
  readonly finality: NodeFinality;
  /** Undefined with rest-api.enable = no. */
  readonly rest: HttpServer | undefined;
  stop(): Promise<void>;
}

/**
 * Throws ApiError where genesis and data directory do not fit together, UnsupportedFeatures where a
 * feature is active that this release does not implement, InitialSyncError where the network does
 * not know the owner.
 */
export async function createNode(config: Config, genesis: Block, ports: NodePorts): Promise<Node> {
  const { started = new Disposal() } = ports;
  try {
    return await startNode(config, genesis, ports, started);
  } catch (cause) {
    // The first failure says more than its consequences.
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
  const { clock, telemetry } = ports;
  const chain = await openChain(config, genesis, ports, started);
  const exchange = await openExchange(config, genesis, { ...ports, ...chain }, started);
  const { blockchain, pool, finality, metrics, measured } = chain;
  const { peering, privacy, statuses } = exchange;
  const execution = openExecution(config, { ...ports, ...chain, report: statuses.report });
  const { contracts, executions } = execution;
  const mining = { ...ports, ...chain, peering, contracts, ...minerKeys(chain) };
  const miner = openMiner(config, mining);
  const events = openEvents(config, { blockchain, privacy, finality, clock, metrics });
  const parts = { ...chain, ...exchange, ...execution, events };
  const services = apiServices(config, ports, parts);
  if (telemetry !== undefined) {
    started.add('metrics', watchNode(config, { ...ports, ...parts, telemetry, miner }, metrics));
  }
  const served = { ...parts, services, metrics: measured, started };
  const rest = await serveClients(config, ports, served);
  if (rest?.delays !== undefined) watchThreads(rest.delays, metrics);
  if (rest !== undefined) watchCertificate(() => rest.certificateEnd?.(), metrics);
  await serveContracts(config, { ...ports, started }, services, executions);
  started.add('miner', miner.stop);
  miner.start();
  return {
    blockchain,
    pool,
    services,
    statuses,
    finality,
    rest,
    stop: () => started.dispose(),
  };
}

/** The chain with the votes on its blocks, and the pool on its head. */
async function openChain(config: Config, genesis: Block, ports: NodePorts, started: Disposal) {
  const { log, telemetry } = ports;
  const metrics = nodeMetrics(telemetry?.metrics);
  const opened = await openVotingChain(config, genesis, { ...ports, metrics, started });
  const { blockchain, rules, support, owner } = opened;
  started.add('features', watchFeatures(blockchain, rules, support, log, ports.requestStop));
  startAudit(blockchain, ports, started);
  const measured = telemetry === undefined ? undefined : metrics;
  const opening = { ...ports, ...opened, metrics: measured, started };
  const space = await watchFreeSpace({ bytesMin: config.storage.freeSpaceMin }, ports);
  started.add('free space', space.stop);
  const pooled = openPool(config, { ...opening, isDiskLow: space.isLow });
  warnOfOwner(config.ownerAddress, owner.address, blockchain.view, ports);
  const turnsJournal = watchJournal(ports.turns, 'the turns of the miner');
  return { ...opened, ...pooled, space, turnsJournal, metrics, measured };
}

type ChainParts = Awaited<ReturnType<typeof openChain>>;

/** What goes on between this node and others. */
async function openExchange(
  config: Config,
  genesis: Block,
  ports: NodePorts & ChainParts,
  started: Disposal,
) {
  const { blockchain, pool, owner, identity, rules, feeOf, metrics, measured } = ports;
  // Confidential data are below the network on the stack, because the network must be closed first.
  let privacy: Privacy | undefined;
  started.add('confidential data', () => privacy?.stop());
  let statuses: Statuses | undefined;
  started.add('contract statuses', () => statuses?.stop());
  const peering = openNetwork(config, genesis, {
    ...ports,
    network: ports.network && measured ? measuredNetwork(ports.network, measured) : ports.network,
    owner: identity.as('identity'),
    miner: await minerProof(identity, owner.as('identity'), blockId(genesis)),
  });
  started.add('network', peering.stop);
  const { sessions } = peering;
  const isWatcher = config.network.mode === 'watcher';
  privacy = openPrivacy(config, {
    ...ports,
    owner: identity.as('identity'),
    pool: isWatcher ? { ...pool, check: refuseAsWatcher } : pool,
    feeOf: (tx) => feeOf(tx).feeAmount,
    sessions,
    onNoRoom: (limit) => metrics.privateRefused.add(1, { limit }),
  });
  const executes = isExecuting(config, ports);
  const status = { owner: owner.as('status'), blockchain, rules, executes, sessions };
  statuses = openStatuses(config, { ...ports, ...status });
  await statuses.start();
  await peering.start();
  // Clients are served before the missing items have been fetched.
  void privacy?.start();
  return { peering, privacy, statuses };
}

/** The execution of contracts, and what their reads and those of clients share. */
function openExecution(config: Config, ports: NodePorts & ChainParts & Pick<Statuses, 'report'>) {
  const { clock, random } = ports;
  const lifetimeMs = config.dockerEngine.contractAuthExpiresIn.ms;
  const executions = createExecutions(lifetimeMs, { clock, random, hash: sha256 });
  const keyFilters = createKeyFilters(ports.patterns, clock);
  const contractKeyFilters = createKeyFilters(ports.contractPatterns, clock);
  const owner = ports.owner.as('transaction');
  const deps = { ...ports, owner, keyFilters: contractKeyFilters, executions };
  return { executions, keyFilters, contractKeyFilters, contracts: openContracts(config, deps) };
}

interface ServedParts {
  readonly services: Services;
  readonly events: NodeEvents;
  /** Undefined where nothing is measured. */
  readonly metrics: NodeMetrics | undefined;
  readonly started: Disposal;
}

/** The REST interface, and events over gRPC. */
async function serveClients(
  config: Config,
  ports: NodePorts,
  { services, events, metrics, started }: ServedParts,
): Promise<HttpServer | undefined> {
  const rest = await listenRest(config, ports, () => {
    const routes = createApi(services, ports.pages);
    const measured = metrics === undefined ? routes : measuredRoutes(routes, routeMeter(metrics));
    return audited(measured, services, ports);
  });
  if (rest !== undefined) started.add('REST interface', () => rest.close());
  // Above their connections on the stack, so that clients hear that the node stops.
  started.add('events', events.stop);
  const listener = await ports.listenEvents?.(events.service);
  if (listener !== undefined) started.add('events over gRPC', listener.close);
  return rest;
}

function audited(
  routes: readonly HttpRoute[],
  { keys, clock }: Services,
  { auditLog }: NodePorts,
): readonly HttpRoute[] {
  if (auditLog === undefined) return routes;
  return auditedRoutes(routes, auditLog, (request) => keys.keyOf(request)?.holder, clock);
}

async function serveContracts(
  config: Config,
  ports: NodePorts & { readonly started: Disposal },
  ...of: readonly [Services, Executions]
): Promise<void> {
  if (!isExecuting(config, ports)) return;
  const server = await listenContracts(config, ports, ...of);
  if (server === undefined) return;
  ports.started.add('interface for contracts', () => server.close());
  ports.containers?.readsAt(server.port);
}

/** The chain, its owner, and the votes on its blocks. */
async function openVotingChain(
  config: Config,
  genesis: Block,
  ports: NodePorts & { readonly metrics: NodeMetrics; readonly started: Disposal },
) {
  const opened = await openBlockchain(config, genesis, ports);
  const accounts = nodeAccounts(config, ports);
  const owner = accounts.owner.as('vote');
  const finality = openFinality(config, { ...ports, ...opened, owner });
  return { ...opened, ...accounts, finality };
}

/** What signs blocks, and what goes into them, with the key of the owner. */
function minerKeys({ owner }: Pick<ChainParts, 'owner'>) {
  const { sign: signTurn } = owner.as('turn');
  return { owner: { ...owner.as('block'), signTurn }, signer: owner.as('transaction') };
}

/** True where this node executes contracts for the blocks that it makes. */
const isExecuting = ({ miner, network }: Config, { containers }: NodePorts): boolean =>
  containers !== undefined && miner.enable && network.mode !== 'watcher';

function startAudit(
  blockchain: Blockchain,
  { audit, log, requestStop }: NodePorts,
  started: Disposal,
): void {
  if (audit === undefined) return;
  const endAudit = auditChain(blockchain, audit, (broken) => {
    log.error('ledger.broken', { why: broken.join('; ') });
    requestStop(new AssertionError(`the ledger is broken: ${broken.join('; ')}`));
  });
  started.add('audit', endAudit);
}

/** Lacking funds or roles are legal, but seldom intended. */
function warnOfOwner(
  owner: string,
  address: Uint8Array,
  view: LedgerView,
  { clock, log }: NodePorts,
): void {
  const account = accountOf(view, address);
  if (account.balance === 0n && effective(account) === 0n) log.warn('owner.no-balance', { owner });
  if (rolesAt(view, address, clock.now()).length === 0) log.warn('owner.no-roles', { owner });
}

interface WatchedNode extends NodePorts, NodeParts {
  readonly telemetry: NonNullable<NodePorts['telemetry']>;
  readonly miner: Miner;
}

/** Fills the metrics from all parts of the node, until the returned function is called. */
function watchNode(config: Config, of: WatchedNode, metrics: NodeMetrics): () => void {
  const { blockchain, store, peering, privacy } = of;
  readOnDemand(
    {
      ...of,
      process: of.telemetry.process,
      poolBytesMax: config.utx.memoryLimit,
      chainId: String.fromCharCode(of.scheme.chainId),
      freeBytesMin: config.storage.freeSpaceMin,
      healthy: () => (store.problem?.() ?? of.problem() ?? of.turnsJournal.outage()) === undefined,
      isShutOut: () => peering.outside() !== undefined,
    },
    metrics,
  );
  const { keyHolder } = of;
  if (keyHolder !== undefined) {
    metrics.onRead(() => metrics.signerUp.set(keyHolder.problem() === undefined ? 1 : 0));
  }
  if (peering.readings !== undefined) watchNetwork(peering.readings, metrics);
  if (privacy !== undefined) watchPrivacy(privacy, metrics);
  watchFinality(
    {
      report: () => of.finality.report(),
      height: () => blockchain.tip().height,
      own: of.scheme.addressToText(of.owner.address),
    },
    metrics,
  );
  return watchChain(blockchain, of.owner.address, metrics);
}
