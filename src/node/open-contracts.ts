/** Contract execution on a configured node. */

import type { KeyFilters } from '../base/ports/patterns.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { ContractPacker } from '../contracts/contract-packer.ts';
import type { Executions } from '../contracts/execution/executions.ts';
import { mayExecute } from '../contracts/may-execute.ts';
import { graceMs, phaseMs, type Round } from '../contracts/phase-length.ts';
import type { ReportStatus } from '../contracts/statuses/status-report.ts';
import type { Keystore } from '../keystore/keystore.ts';
import type { Pool } from '../mempool/pool.ts';
import type { Signer } from '../tx/types/120-atomic.ts';
import type { Config } from './config/settings.ts';
import type { NodeMetrics } from './metrics/observability.ts';
import type { NodePorts } from './node-ports.ts';

export interface ContractsPortsOfNode extends Pick<NodePorts, 'containers' | 'clock'> {
  readonly blockchain: Pick<Blockchain, 'view' | 'listen'>;
  readonly pool: Pool;
  readonly keystore: Pick<Keystore, 'addresses'>;
  /** The account that makes the blocks of this node. */
  readonly owner: Signer;
  readonly report: ReportStatus;
  readonly executions: Executions;
  readonly rules: { readonly senderRoleEnabled: boolean };
  readonly keyFilters: KeyFilters;
  readonly metrics: NodeMetrics;
}

export interface NodeContracts {
  readonly packer: ContractPacker;
  /** Why contracts cannot run at present. */
  problem(): string | undefined;
}

/** Undefined where the node has no container engine. */
export function openContracts(
  config: Config,
  ports: ContractsPortsOfNode,
): NodeContracts | undefined {
  const { containers, blockchain, keystore, executions, metrics } = ports;
  if (containers === undefined) return undefined;
  const { dockerEngine } = config;
  const owner = blockchain.view.scheme.addressOf(ports.owner.publicKey);
  const packer = new ContractPacker(
    {
      parallelism: dockerEngine.contractsParallelism,
      perContainer: dockerEngine.maxConcurrentPerContainer,
      timeoutMs: dockerEngine.executionLimits.timeout.ms,
      phaseMs: phaseMs(roundOf(config)),
      graceMs: graceMs(roundOf(config)),
    },
    {
      ...ports,
      containers,
      keyFilter: ports.keyFilters.open,
      view: blockchain.view,
      signer: ports.owner,
      mayExecute: () => mayExecute(blockchain.view, owner, ports.clock.now(), ports.rules),
      addresses: () => keystore.addresses(),
      observe(outcome, ms) {
        metrics.contractRuns.add(1, { outcome });
        metrics.contractTime.observe(ms / 1000);
      },
    },
  );
  packer.start();
  blockchain.listen({ block: ({ block }) => packer.mined(block.txs) });
  metrics.onRead(() => {
    metrics.contractsRunning.set(executions.size);
    metrics.engineWorks.set(containers.problem() === undefined ? 1 : 0);
  });
  return { packer, problem: () => containers.problem() };
}

export function roundOf({ blockchain: { consensus, custom } }: Config): Round {
  return consensus.type === 'poa'
    ? { type: 'poa', roundMs: consensus.roundDuration.ms }
    : { type: 'pos', averageDelayMs: custom.genesis.averageBlockDelay.ms };
}
