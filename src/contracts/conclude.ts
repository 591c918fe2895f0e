/** The end of a contract transaction's turn: its results enter the block, it leaves the pool, or stays. */
import { fromLatin1 } from '../base/bytes.ts';
import type {
  ContractFailure,
  ContractImage,
  ContractOutcome,
  DataEntry,
} from '../base/containers.ts';
import { apiError } from '../base/errors.ts';
import { refusalFrom } from '../codec/refusal.ts';
import { idOf, type PoolEntry } from '../mempool/entry.ts';
import type { Pool } from '../mempool/pool.ts';
import type { Tx } from '../tx/transaction.ts';
import { createContract } from '../tx/types/103-create-contract.ts';
import { type BlockInWork, isBlockFull, ResultRefused } from './block-in-work.ts';
import type { Breakers } from './breakers.ts';
import type { CreateVersions } from './create-versions.ts';
import { type Judgement, judgeError, judgeFailure, judgeRefusal } from './judge-outcome.ts';
import type { Repetitions } from './repetitions.ts';
import type { ReportStatus } from './status-report.ts';

/** What to do with the transactions behind it. */
export type Then = 'next' | 'stop';

export interface ConcludePorts {
  readonly pool: Pick<Pool, 'decode' | 'drop'>;
  readonly breakers: Breakers;
  readonly repetitions: Repetitions;
  readonly createVersions: CreateVersions;
  readonly report: ReportStatus;
  /** Keys of the pool entries that have failed in this round. */
  readonly failed: Set<string>;
  /** For the metrics. */
  readonly observe: (outcome: ContractOutcome['kind'], ms: number) => void;
}

export interface Conclusions {
  /** `contract` is the key of its line. */
  outcome(
    contract: string,
    entry: PoolEntry,
    tx: Tx,
    image: ContractImage,
    outcome: ContractOutcome,
  ): Then;
  results(contract: string, entry: PoolEntry, tx: Tx, results: readonly DataEntry[]): Then;
  /** The container did not start. */
  unready(contract: string, entry: PoolEntry, image: ContractImage, failure: ContractFailure): Then;
  refusal(contract: string, entry: PoolEntry, cause: unknown): Then;
  judged(contract: string, entry: PoolEntry, judgement: Judgement): Then;
}

export function createConclusions(block: BlockInWork, ports: ConcludePorts): Conclusions {
  const { pool, breakers, repetitions, createVersions, report, failed } = ports;

  function judged(contract: string, entry: PoolEntry, found: Judgement): Then {
    const isLast = !found.leaves && !repetitions.failed(entry.key);
    return concluded(contract, entry, found, isLast);
  }

  function failure(contract: string, entry: PoolEntry, why: ContractFailure): Then {
    const found = judgeFailure(why);
    if (!why.system || found.leaves) return judged(contract, entry, found);
    // An outage is no fault of the transaction. The rests of the contract bound what this costs.
    repetitions.heldUp(entry.key);
    return concluded(contract, entry, found, false);
  }

  function concluded(contract: string, entry: PoolEntry, found: Judgement, isLast: boolean): Then {
    failed.add(entry.key);
    const judgement = isLast ? lastAttempt(found) : found;
    if (judgement.leaves) {
      pool.drop(entry, apiError('Invalid', judgement.report.message));
      // After a reorganisation the pool keeps it in doubt, and nothing is decided yet.
      if (!entry.removed) return 'next';
    }
    report({ txId: idOf(entry), contractId: fromLatin1(contract), ...judgement.report });
    return 'next';
  }

  const refusal = (contract: string, entry: PoolEntry, cause: unknown): Then =>
    judged(contract, entry, judgeRefusal(refusalFrom(cause).message));

  function results(
    contract: string,
    entry: PoolEntry,
    tx: Tx,
    entries: readonly DataEntry[],
  ): Then {
    try {
      if (!block.addResults(tx, entry.verdicts, entries)) return 'stop';
    } catch (cause) {
      if (isBlockFull(cause) || cause instanceof ResultRefused) return 'stop';
      return refusal(contract, entry, cause);
    }
    if (tx.type === createContract.type) createVersions.add(entry.key, tx.version);
    return 'next';
  }

  return {
    judged,
    refusal,
    results,
    unready(contract, entry, image, why) {
      breakers.failed(contract, { sender: undefined, image: hashIfSystem(image, why) });
      return failure(contract, entry, why);
    },
    outcome(contract, entry, tx, image, outcome) {
      const { sender } = entry;
      if (outcome.kind === 'failure') {
        breakers.failed(contract, { sender, image: hashIfSystem(image, outcome) });
        return failure(contract, entry, outcome);
      }
      if (outcome.kind === 'error') {
        const judgement = judgeError(outcome);
        if (judgement.leaves) breakers.refused(contract, sender);
        else breakers.failed(contract, { sender, image: undefined });
        return judged(contract, entry, judgement);
      }
      breakers.succeeded(contract, sender);
      return results(contract, entry, tx, outcome.results);
    },
  };
}

const hashIfSystem = ({ imageHash }: ContractImage, { system }: ContractFailure) =>
  system ? imageHash.toLowerCase() : undefined;

/** The transaction has had all its attempts, and says how the last one went. */
const lastAttempt = ({ report: { message } }: Judgement): Judgement =>
  judgeRefusal(`The transaction has failed too often: ${message}`);
