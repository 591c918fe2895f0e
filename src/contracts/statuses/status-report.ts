/** What this node, as the miner, says about the outcome of one contract transaction. */

/** Success: a block contains it. Error: the contract refused. Failure: the system is at fault. */
export type OutcomeStatus = 'Success' | 'Error' | 'Failure';

export interface StatusReport {
  readonly txId: Uint8Array;
  /** Absent: that of the transaction in the pool. */
  readonly contractId?: Uint8Array | undefined;
  readonly status: OutcomeStatus;
  readonly code: number | undefined;
  /** Not cut yet; no paths and no secrets. */
  readonly message: string;
}

/** True where the node that reports this will not execute the transaction again. */
export const isRefusal = (status: OutcomeStatus, code: number | undefined): boolean =>
  status === 'Error' || (status === 'Failure' && code === undefined);

/** Takes a report to sign, keep and spread it. Returns at once and never throws. */
export type ReportStatus = (report: StatusReport) => void;
