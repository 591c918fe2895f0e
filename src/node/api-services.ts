/** The services that the routes get from a configured node. */

import type { KeyFilters } from '../base/ports/patterns.ts';
import type { Statuses } from '../contracts/statuses/statuses.ts';
import type { Privacy } from '../privacy/privacy-service.ts';
import { AccessKeys } from '../rest/access-keys.ts';
import type { KeyHolder, Services } from '../rest/services.ts';
import { apiSettings, keySettings } from './api-settings.ts';
import type { Config } from './config/settings.ts';
import type { FreeSpace } from './free-space.ts';
import type { NodePorts } from './node-ports.ts';
import type { OpenedChain } from './open-blockchain.ts';
import type { NodeContracts } from './open-contracts.ts';
import type { NodeEvents } from './open-events.ts';
import type { NodeFinality } from './open-finality.ts';
import type { NodeNetwork } from './open-network.ts';
import type { OpenedPool } from './open-pool.ts';
import { snapshotOf } from './snapshot.ts';
import type { WatchedJournal } from './watched-journal.ts';
import { refuseAsWatcher } from './watcher.ts';

export interface NodeParts extends OpenedChain, OpenedPool {
  readonly owner: KeyHolder;
  readonly identity: KeyHolder;
  readonly keyFilters: KeyFilters;
  readonly contractKeyFilters: KeyFilters;
  readonly privacy: Privacy | undefined;
  readonly statuses: Statuses;
  readonly contracts: NodeContracts | undefined;
  readonly peering: NodeNetwork;
  readonly space: FreeSpace;
  readonly turnsJournal: WatchedJournal;
  readonly events: NodeEvents;
  readonly finality: NodeFinality;
}

export function apiServices(config: Config, ports: NodePorts, parts: NodeParts): Services {
  const { scheme, family, clock, random, log, verifier, keystore, store } = ports;
  const { blockchain, rules, support, pool, owner, identity } = parts;
  return {
    settings: apiSettings(config),
    keys: new AccessKeys(keySettings(config), family, () => clock.now()),
    scheme,
    family,
    clock,
    random,
    log,
    verifier,
    keyFilters: parts.keyFilters,
    contractKeyFilters: parts.contractKeyFilters,
    view: blockchain.view,
    tip: () => blockchain.tip(),
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
      problem: parts.problem,
      ...(config.network.mode === 'watcher' ? { admit: refuseAsWatcher } : {}),
    },
    feeOf: parts.feeOf,
    keystore,
    node: {
      version: ports.version,
      owner,
      identity,
      outside: () => parts.peering.outside(),
      problem: () => store.problem?.(),
      minerJournal: parts.turnsJournal.outage,
      space: parts.space.problem,
      conflict: () => parts.finality.problem(),
      stop: () => ports.requestStop(),
    },
    privacy: parts.privacy,
    statuses: parts.statuses,
    events: parts.events.streams,
    finality: () => parts.finality.report(),
    evidence: () => parts.finality.evidence(),
    signer() {
      if (ports.keyHolder === undefined) return 'off';
      return ports.keyHolder.problem() === undefined ? 'on' : 'away';
    },
    execution() {
      if (parts.contracts === undefined) return 'off';
      return parts.contracts.problem() === undefined ? 'on' : 'away';
    },
    peers: parts.peering.peers,
  };
}
