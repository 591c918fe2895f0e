/**
 * Connects a configured node to its peers: connections (peering.ts) and the services that use them.
 */

import { DisposedError } from '../base/disposal.ts';
import { StartError } from '../base/faults/start-error.ts';
import type { Block } from '../block/block.ts';
import { lacksFeatures } from '../chain/features/feature-activation.ts';
import { ABOVE_FINAL_MAX } from '../chain/finality/final-floor.ts';
import { createEquivocations } from '../chain/fork/equivocation.ts';
import { ForkChoice } from '../chain/fork/fork-choice.ts';
import { createInvalidBlocks } from '../chain/fork/invalid-blocks.ts';
import type { LostBlocks } from '../chain/fork/lost-blocks.ts';
import { ScriptHistory } from '../chain/store/script-history.ts';
import type { Consensus } from '../consensus/consensus.ts';
import { isParticipant } from '../ledger/participants.ts';
import type { Pool } from '../mempool/pool.ts';
import {
  createNetworkService,
  type NetworkService,
  type NetworkServiceOptions,
} from '../network/network-service.ts';
import type { AddressBook } from '../network/peers/address-book.ts';
import { InitialSyncError, NO_PEERS, unregistered } from '../network/peers/initial-sync.ts';
import { notInChain } from '../network/peers/own-membership.ts';
import type { Penalties } from '../network/sessions/penalties.ts';
import type { SessionRegistry } from '../network/sessions/session-registry.ts';
import type { Sync } from '../network/sync/sync.ts';
import type { PeersPort } from '../rest/services.ts';
import type { ChainRules } from '../tx/rules/chain-rules.ts';
import type { Config } from './config/settings.ts';
import type { NodeFinality } from './open-finality.ts';
import { openPeering, type PeeringPortsOfNode, reviewMembers } from './open-peering.ts';

export interface NetworkPorts extends PeeringPortsOfNode {
  readonly lostBlocks: LostBlocks;
  readonly consensus: Consensus;
  readonly rules: ChainRules;
  readonly pool: Pool;
  /** Absent where nothing votes. */
  readonly finality?: NodeFinality | undefined;
}

/** Readings of the network, for the metrics. */
export interface NetworkReadings {
  readonly sessions: Pick<SessionRegistry, 'all'>;
  readonly book: Pick<AddressBook, 'known'>;
  readonly penalties: Pick<Penalties, 'onOffence'>;
  readonly sync: Pick<Sync, 'state' | 'missing'>;
}

export interface NodeNetwork {
  /** Undefined for a node without peers. */
  readonly readings: NetworkReadings | undefined;
  /** Undefined for a node without peers. */
  readonly peers: PeersPort | undefined;
  /** For services with protocols of their own; undefined for a node without peers. */
  readonly sessions: SessionRegistry | undefined;
  connectedMiners(): number;
  /** True while blocks are missing; the node then makes none. */
  isFarBehind(): boolean;
  /** A peer has announced a better chain. */
  isBehind(): boolean;
  /** How far a better block has come that is on its way. */
  readonly comingBlock: NetworkService['comingBlock'];
  /** The own state does not have the owner (type 111), so no node takes anything from this one. */
  isRemovedFromNetwork(): boolean;
  /** Why no node takes anything from this one, also as far as others tell. */
  outside(): string | undefined;
  /** Rejects with InitialSyncError where the node cannot join. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function openNetwork(config: Config, genesis: Block, ports: NetworkPorts): NodeNetwork {
  const peering = openPeering(config, genesis, ports);
  if (peering === undefined) return alone(config, ports);
  const endReview = reviewMembers(peering, ports.blockchain);
  const { sessions, book, penalties } = peering;
  ports.finality?.attach(sessions);
  const service = createNetworkService(serviceOptions(config, ports), {
    ...ports,
    sessions: peering.sessions,
    forkChoice: openForkChoice(config, ports),
    scripts: startScriptHistory(config, ports),
    isOutdated: (height) => lacksFeatures(ports.blockchain.view, height, ports.rules),
  });
  const { handshakeCheck } = config.network;
  const connect: PeersPort['connect'] = (address) => peering.connect(address);
  return {
    readings: { sessions, book, penalties, sync: service.sync },
    peers: { sessions, book, penalties, handshakeCheck, connect },
    sessions: peering.sessions,
    connectedMiners: service.connectedMiners,
    isFarBehind: service.isFarBehind,
    isBehind: service.isBehind,
    comingBlock: service.comingBlock,
    isRemovedFromNetwork: () => isRemovedFromNetwork(config, ports),
    outside: () => peering.membership.problem(),
    async start() {
      try {
        await peering.start();
      } catch (cause) {
        if (cause instanceof InitialSyncError || cause instanceof DisposedError) throw cause;
        const { bindAddress, port } = config.network;
        const part = `network of nodes on ${bindAddress}:${port}`;
        throw StartError.ofAddress(part, 'network.bind-address, network.port', cause);
      }
    },
    async stop() {
      await service.stop();
      endReview();
      await peering.stop();
    },
  };
}

/** A pool may keep a transaction up to the next round of its cleanup, and for the round itself. */
const CLEANUPS = 2;

const keptMs = ({ utx }: Config): number => CLEANUPS * utx.cleanupInterval.ms;

const SCRIPT_CHANGES_MAX = 100_000;

/** Until the network stops. */
function startScriptHistory(config: Config, { blockchain, clock }: NetworkPorts): ScriptHistory {
  // As many as a reorganisation may ever take back.
  const blocks = Math.max(config.synchronization.maxRollback, ABOVE_FINAL_MAX);
  const options = { blocks, ms: keptMs(config), accounts: SCRIPT_CHANGES_MAX };
  const history = new ScriptHistory(options, blockchain, clock);
  history.start();
  return history;
}

function openForkChoice({ synchronization }: Config, ports: NetworkPorts): ForkChoice {
  const { consensus, pool, clock, log } = ports;
  const { maxSize, timeout } = synchronization.invalidBlocksStorage;
  const forkChoice = new ForkChoice(
    { rollbackMax: synchronization.maxRollback },
    {
      ...ports,
      invalid: createInvalidBlocks({ max: maxSize, forgetMs: timeout.ms }, clock),
      equivocations: createEquivocations(consensus, ports.scheme, log),
      knownVerdicts: pool.verdictsOn,
    },
  );
  forkChoice.start();
  return forkChoice;
}

function serviceOptions(config: Config, ports: NetworkPorts): NetworkServiceOptions {
  const { network, synchronization, utx, miner } = config;
  const sending = synchronization.transactionBroadcaster;
  return {
    mode: network.mode,
    ownPublicKey: (ports.miner ?? ports.owner).publicKey,
    scoreTtlMs: synchronization.scoreTtl.ms,
    sync: {
      batch: synchronization.extensionBatchSize,
      timeoutMs: synchronization.synchronizationTimeout.ms,
      transactionBytesMax: miner.maxBlockSizeInBytes,
    },
    transactions: {
      batchMax: sending.maxBatchSize,
      batchMs: sending.maxBatchTime.ms,
      minBroadcast: sending.minBroadcastCount,
      maxBroadcast: sending.maxBroadcastCount,
      retryMs: sending.retryDelay.ms,
      knownMax: sending.knownTxCacheSize,
      knownMs: sending.knownTxCacheTime.ms,
      rebroadcastAgeMs: utx.rebroadcastThreshold.ms,
      rebroadcastEveryMs: utx.rebroadcastInterval.ms,
    },
    suspicions: { keptMs: keptMs(config) },
  };
}

const isRemovedFromNetwork = ({ network }: Config, { blockchain, owner }: NetworkPorts): boolean =>
  network.handshakeCheck && !isParticipant(blockchain.view, owner.address);

const ownerText = ({ scheme, owner }: NetworkPorts): string => scheme.addressToText(owner.address);

/** A node without peers cannot ask any other node about its network. */
function alone(config: Config, ports: NetworkPorts): NodeNetwork {
  return {
    readings: undefined,
    peers: undefined,
    sessions: undefined,
    connectedMiners: () => 0,
    isFarBehind: () => false,
    isBehind: () => false,
    comingBlock: () => undefined,
    isRemovedFromNetwork: () => isRemovedFromNetwork(config, ports),
    outside: () => (isRemovedFromNetwork(config, ports) ? notInChain(ownerText(ports)) : undefined),
    async start() {
      if (isRemovedFromNetwork(config, ports)) throw unregistered(NO_PEERS, ports);
    },
    stop: async () => {},
  };
}
