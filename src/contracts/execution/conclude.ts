/** The end of a contract transaction's turn: its results enter the block, it leaves the pool, or stays. */

import { assert } from '../../base/assert.ts';
import { fromLatin1 } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import type {
  ContractFailure,
  ContractImage,
  ContractOutcome,
} from '../../base/ports/containers.ts';
import { isUnsigned } from '../../base/signer/signing.ts';
import { isBlockFull } from '../../chain/apply/block-draft.ts';
import { refusalFrom } from '../../codec/refusal.ts';
import { idOf, type PoolEntry } from '../../mempool/entries/entry.ts';
import type { Pool } from '../../mempool/pool.ts';
import type { CheckedTx } from '../../tx/proof-verdicts.ts';
import type { Tx } from '../../tx/transaction.ts';
import { createContract } from '../../tx/types/103-create-contract.ts';
import type { CreateVersions } from '../images/create-versions.ts';
import type { ReportStatus } from '../statuses/status-report.ts';
import type { ContractQueue } from '../waiting/contract-queue.ts';
import { type BlockInWork, ResultRefused } from './block-in-work.ts';
import type { CircuitBreakers, Outage } from './circuit-breakers.ts';
import { type Judgement, judgeError, judgeFailure, judgeRefusal } from './judge-outcome.ts';
import type { Repetitions } from './repetitions.ts';

/** Throws what making or signing them has thrown. */
export type SignedResults = () => CheckedTx;

/** What to do with the transactions behind it. */
export type Then = 'next' | 'stop';

export interface ConcludePorts {
  readonly pool: Pick<Pool, 'decode' | 'drop' | 'refuse'>;
  readonly breakers: CircuitBreakers;
  readonly repetitions: Repetitions;
  readonly createVersions: CreateVersions;
  readonly report: ReportStatus;
  /** Keys of the pool entries that have failed in this round. */
  readonly failed: Set<string>;
  /** For the metrics. */
  readonly observe: (outcome: ContractOutcome['kind'], ms: number) => void;
}

export class Conclusions {
  readonly #block: BlockInWork;
  readonly #ports: ConcludePorts;

  constructor(block: BlockInWork, ports: ConcludePorts) {
    this.#block = block;
    this.#ports = ports;
  }

  /** `signed` are the results of a success. */
  outcome(
    queue: ContractQueue,
    entry: PoolEntry,
    tx: Tx,
    image: ContractImage,
    outcome: ContractOutcome,
    signed?: SignedResults,
  ): Then {
    const { breakers } = this.#ports;
    const { sender } = entry;
    if (outcome.kind === 'failure') {
      breakers.failed(queue.key, { sender, outage: outageOf(queue, image, outcome) });
      return this.failure(queue, entry, outcome);
    }
    if (outcome.kind === 'error') {
      const judgement = judgeError(outcome);
      if (judgement.leaves) breakers.refused(queue.key, sender);
      else breakers.failed(queue.key, { sender, outage: undefined });
      return this.judged(queue, entry, judgement);
    }
    assert(signed !== undefined, 'the results of a success are signed');
    const refusal = refusalOf(signed);
    if (refusal !== undefined) {
      breakers.failed(queue.key, { sender, outage: undefined });
      return this.refusal(queue, entry, refusal);
    }
    breakers.succeeded(queue.key, sender);
    return this.results(queue, entry, tx, signed);
  }

  results(queue: ContractQueue, entry: PoolEntry, tx: Tx, signed: SignedResults): Then {
    try {
      if (!this.#block.addResults(tx, entry.verdicts, signed())) return 'stop';
    } catch (cause) {
      if (isBlockFull(cause) || cause instanceof ResultRefused || isUnsigned(cause)) return 'stop';
      return this.refusal(queue, entry, cause);
    }
    const { createVersions } = this.#ports;
    if (tx.type === createContract.type) createVersions.add(entry.key, tx.version);
    return 'next';
  }

  /** The container did not start. */
  unready(
    queue: ContractQueue,
    entry: PoolEntry,
    image: ContractImage,
    why: ContractFailure,
  ): Then {
    const outage = outageOf(queue, image, why);
    this.#ports.breakers.failed(queue.key, { sender: undefined, outage });
    return this.failure(queue, entry, why);
  }

  failure(queue: ContractQueue, entry: PoolEntry, why: ContractFailure): Then {
    const found = judgeFailure(why);
    if (!isOutage(why)) return this.judged(queue, entry, found);
    return this.#concluded(queue, entry, found, !this.#ports.repetitions.heldUp(entry.key));
  }

  refusal(queue: ContractQueue, entry: PoolEntry, cause: unknown): Then {
    return this.judged(queue, entry, judgeRefusal(refusalFrom(cause).message));
  }

  /** The rules refuse the transaction before it has run. */
  unfit(queue: ContractQueue, entry: PoolEntry, cause: unknown): Then {
    const found = judgeRefusal(refusalFrom(cause).message);
    return this.#concluded(queue, entry, found, false, 'refuse');
  }

  judged(queue: ContractQueue, entry: PoolEntry, found: Judgement): Then {
    const isLast = !found.leaves && !this.#ports.repetitions.failed(entry.key);
    return this.#concluded(queue, entry, found, isLast);
  }

  #concluded(
    { key }: ContractQueue,
    entry: PoolEntry,
    found: Judgement,
    isLast: boolean,
    end: 'drop' | 'refuse' = 'drop',
  ): Then {
    const { pool, report, failed } = this.#ports;
    // What the rules refuse may wait for another part of the block.
    if (end === 'drop') failed.add(entry.key);
    const judgement = isLast ? lastAttempt(found) : found;
    if (judgement.leaves) {
      pool[end](entry, apiError('Invalid', judgement.report.message));
      // After a reorganisation the pool keeps it in doubt, and nothing is decided yet.
      if (!entry.removed) return 'next';
    }
    report({ txId: idOf(entry), contractId: fromLatin1(key), ...judgement.report });
    return 'next';
  }
}

/** What is wrong with results, for which no fee is paid; a signer that fails says nothing of them. */
function refusalOf(signed: SignedResults): unknown {
  try {
    signed();
  } catch (cause) {
    return isUnsigned(cause) ? undefined : cause;
  }
  return undefined;
}

/** Says nothing of the transaction: a registry or the engine does not do what it should. */
export const isOutage = ({ system, recoverable }: ContractFailure): boolean =>
  system && recoverable;

export const outageOf = (
  { owner }: Pick<ContractQueue, 'owner'>,
  { imageHash }: ContractImage,
  why: ContractFailure,
): Outage | undefined =>
  isOutage(why) ? { imageHash: imageHash.toLowerCase(), creator: owner } : undefined;

/** The transaction has had all its attempts, and says how the last one went. */
export const lastAttempt = ({ report: { message } }: Judgement): Judgement =>
  judgeRefusal(`The transaction has failed too often: ${message}`);
