/**
 * The pool of a configured node. It takes back what its journal holds, and follows the chain.
 */
import type { Disposal } from '../base/disposal.ts';
import { apiError } from '../base/errors.ts';
import { Trial } from '../mempool/admission/trial.ts';
import { createPool, type Pool } from '../mempool/pool.ts';
import { waitingOf } from '../mempool/reorg/readmission.ts';
import { calculateFee, type Fee } from '../tx/rules/fees.ts';
import type { Tx } from '../tx/transaction.ts';
import type { Config } from './config/settings.ts';
import { measuredPool } from './metrics/measure.ts';
import type { NodeMetrics } from './metrics/observability.ts';
import type { NodePorts } from './node-ports.ts';
import type { OpenedChain } from './open-blockchain.ts';
import { watchJournal } from './watched-journal.ts';

export interface PoolPortsOfNode
  extends Pick<OpenedChain, 'blockchain' | 'rules'>,
    Pick<NodePorts, 'scheme' | 'journal' | 'verifier' | 'clock' | 'log'> {
  /** Absent: submissions are not counted. */
  readonly metrics?: NodeMetrics | undefined;
  readonly started: Disposal;
  /** Absent: no disk is watched. */
  readonly isDiskLow?: (() => boolean) | undefined;
}

export interface OpenedPool {
  readonly pool: Pool;
  /** Why the journal cannot be written; undefined while it works. */
  problem(): string | undefined;
  /** The minimum fee at the head; the proofs are ignored. Throws ApiError Invalid. */
  feeOf(tx: Tx): Fee;
}

/** The most entries that one account may have in the pool (H-17: shares of the pool). */
const SENDER_ENTRIES_MAX = 10_000;

export function openPool(config: Config, ports: PoolPortsOfNode): OpenedPool {
  const { blockchain, rules, clock, metrics, started } = ports;
  const { journal, problem } = watchJournal(ports.journal, 'the pool');
  const trial = new Trial(blockchain, rules, clock);
  const unmeasured = createPool(
    {
      bytesMax: config.utx.memoryLimit,
      senderEntriesMax: SENDER_ENTRIES_MAX,
      acceptsScripted: config.utx.allowTransactionsFromSmartAccounts,
      expireMs: config.utx.txExpireTimeout.ms,
      cleanupMs: config.utx.cleanupInterval.ms,
      nativeToken: config.nativeTicker,
    },
    { ...ports, state: trial, journal },
  );
  const pool = metrics === undefined ? unmeasured : measuredPool(unmeasured, metrics);
  started.add('pool', pool.stop);
  // The other services start meanwhile: checking what a full pool held takes seconds.
  void pool.recover();
  const forget = blockchain.listen({
    block: ({ block }) => pool.removeMined(block.txs.map(waitingOf)),
    rollingBack: (txs) => pool.keep(txs),
    rolledBack: (_tip, txs) => void pool.readmit(txs),
  });
  started.add('pool', forget);
  started.add('chain', () => blockchain.idle());
  return {
    pool,
    problem,
    feeOf: (tx) =>
      calculateFee(tx, blockchain.view, trial.context(), (why) => apiError('Invalid', why)),
  };
}
