/** Status records of contract transactions on a configured node. */

import type { SigningAccount } from '../base/signer/signing.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { mayExecute } from '../contracts/may-execute.ts';
import { Statuses } from '../contracts/statuses/statuses.ts';
import type { Pool } from '../mempool/pool.ts';
import type { SessionRegistry } from '../network/sessions/session-registry.ts';
import type { ChainRules } from '../tx/rules/chain-rules.ts';
import type { Config } from './config/settings.ts';
import type { NodePorts } from './node-ports.ts';

export interface StatusesPortsOfNode
  extends Pick<NodePorts, 'store' | 'clock' | 'log' | 'verifier'> {
  readonly blockchain: Pick<Blockchain, 'view'>;
  readonly pool: Pool;
  readonly rules: Pick<ChainRules, 'senderRoleEnabled'>;
  /** True where this node executes contracts for the blocks that it makes. */
  readonly executes: boolean;
  /** Undefined for a node without peers. */
  readonly sessions: SessionRegistry | undefined;
  /** The account that makes the blocks of this node. */
  readonly owner: SigningAccount;
}

/** The network must start after it. */
export function openStatuses(config: Config, ports: StatusesPortsOfNode): Statuses {
  const { dockerEngine, network } = config;
  const { blockchain, sessions, owner } = ports;
  const cache = dockerEngine.contractExecutionMessagesCache;
  const isWatcher = network.mode === 'watcher';
  return new Statuses(
    {
      recordsMax: cache.maxSize,
      keepMs: cache.expireAfter.ms,
      batchMax: cache.maxBufferSize,
      batchMs: cache.maxBufferTime.ms,
      errorQuorum: cache.contractErrorQuorum,
      cleanupMs: cache.utxCleanupInterval.ms,
      poolBytesMax: config.utx.memoryLimit,
      isWatcher,
    },
    {
      ...ports,
      view: blockchain.view,
      peers: sessions,
      miner: owner,
      executes: () =>
        ports.executes &&
        mayExecute(blockchain.view, owner.address, ports.clock.now(), ports.rules),
    },
  );
}
