/** What the outcome of an execution means for the pool, and what is said about it. */
import type { ContractFailure, ContractOutcome } from '../../base/ports/containers.ts';
import type { StatusReport } from '../statuses/status-report.ts';

export interface Judgement {
  /** False where a later round may have more success. */
  readonly leaves: boolean;
  readonly report: Omit<StatusReport, 'txId' | 'contractId'>;
}

export const SUCCESS: Omit<StatusReport, 'txId' | 'contractId'> = {
  status: 'Success',
  code: undefined,
  message: 'Contract transaction successfully mined',
};

/** Codes with which a contract refuses a call. */
const RECOVERABLE = 1;
const OWN_CODES: ReadonlySet<number> = new Set([0, 2, 3]);

export function judgeError({
  code,
  message,
}: Extract<ContractOutcome, { kind: 'error' }>): Judgement {
  if (code === RECOVERABLE) {
    return { leaves: false, report: { status: 'Failure', code, message } };
  }
  const shown = OWN_CODES.has(code)
    ? message
    : `${message} Unknown contract execution error code '${code}'`;
  return { leaves: true, report: { status: 'Error', code, message: shown } };
}

export function judgeFailure({ recoverable, message }: ContractFailure): Judgement {
  const code = recoverable ? RECOVERABLE : undefined;
  return { leaves: !recoverable, report: { status: 'Failure', code, message } };
}

/** The transaction or its results break a rule. */
export const judgeRefusal = (message: string): Judgement => ({
  leaves: true,
  report: { status: 'Failure', code: undefined, message },
});
