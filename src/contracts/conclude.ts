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
import type { Breakers, Outage } from './breakers.ts';
import type { ContractLine } from './contract-line.ts';
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
  outcome(
    line: ContractLine,
    entry: PoolEntry,
    tx: Tx,
    image: ContractImage,
    outcome: ContractOutcome,
  ): Then;
  results(line: ContractLine, entry: PoolEntry, tx: Tx, results: readonly DataEntry[]): Then;
  /** The container did not start. */
  unready(line: ContractLine, entry: PoolEntry, image: ContractImage, why: ContractFailure): Then;
  failure(line: ContractLine, entry: PoolEntry, why: ContractFailure): Then;
  refusal(line: ContractLine, entry: PoolEntry, cause: unknown): Then;
  judged(line: ContractLine, entry: PoolEntry, judgement: Judgement): Then;
}

export function createConclusions(block: BlockInWork, ports: ConcludePorts): Conclusions {
  const { pool, breakers, repetitions, createVersions, report, failed } = ports;

  function judged(line: ContractLine, entry: PoolEntry, found: Judgement): Then {
    const isLast = !found.leaves && !repetitions.failed(entry.key);
    return concluded(line, entry, found, isLast);
  }

  function failure(line: ContractLine, entry: PoolEntry, why: ContractFailure): Then {
    const found = judgeFailure(why);
    if (!isOutage(why)) return judged(line, entry, found);
    return concluded(line, entry, found, !repetitions.heldUp(entry.key));
  }

  function concluded(
    { key }: ContractLine,
    entry: PoolEntry,
    found: Judgement,
    isLast: boolean,
  ): Then {
    failed.add(entry.key);
    const judgement = isLast ? lastAttempt(found) : found;
    if (judgement.leaves) {
      pool.drop(entry, apiError('Invalid', judgement.report.message));
      // After a reorganisation the pool keeps it in doubt, and nothing is decided yet.
      if (!entry.removed) return 'next';
    }
    report({ txId: idOf(entry), contractId: fromLatin1(key), ...judgement.report });
    return 'next';
  }

  const refusal = (line: ContractLine, entry: PoolEntry, cause: unknown): Then =>
    judged(line, entry, judgeRefusal(refusalFrom(cause).message));

  function results(
    line: ContractLine,
    entry: PoolEntry,
    tx: Tx,
    entries: readonly DataEntry[],
  ): Then {
    try {
      if (!block.addResults(tx, entry.verdicts, entries)) return 'stop';
    } catch (cause) {
      if (isBlockFull(cause) || cause instanceof ResultRefused) return 'stop';
      return refusal(line, entry, cause);
    }
    if (tx.type === createContract.type) createVersions.add(entry.key, tx.version);
    return 'next';
  }

  return {
    judged,
    refusal,
    results,
    failure,
    unready(line, entry, image, why) {
      breakers.failed(line.key, { sender: undefined, outage: outageOf(line, image, why) });
      return failure(line, entry, why);
    },
    outcome(line, entry, tx, image, outcome) {
      const { sender } = entry;
      if (outcome.kind === 'failure') {
        breakers.failed(line.key, { sender, outage: outageOf(line, image, outcome) });
        return failure(line, entry, outcome);
      }
      if (outcome.kind === 'error') {
        const judgement = judgeError(outcome);
        if (judgement.leaves) breakers.refused(line.key, sender);
        else breakers.failed(line.key, { sender, outage: undefined });
        return judged(line, entry, judgement);
      }
      breakers.succeeded(line.key, sender);
      return results(line, entry, tx, outcome.results);
    },
  };
}

/** Says nothing of the transaction: a registry or the engine does not do what it should. */
const isOutage = ({ system, recoverable }: ContractFailure): boolean => system && recoverable;

const outageOf = (
  { owner }: ContractLine,
  { imageHash }: ContractImage,
  why: ContractFailure,
): Outage | undefined =>
  isOutage(why) ? { imageHash: imageHash.toLowerCase(), creator: owner } : undefined;

/** The transaction has had all its attempts, and says how the last one went. */
const lastAttempt = ({ report: { message } }: Judgement): Judgement =>
  judgeRefusal(`The transaction has failed too often: ${message}`);
