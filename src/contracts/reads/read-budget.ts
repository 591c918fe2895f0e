/** How much one execution may read: what it asks for comes from a program that nobody trusts. */
import { apiError } from '../../base/errors.ts';
import { contractLimits } from '../../base/limits/contract-limits.ts';

export interface ReadLimits {
  /** Every row looked for counts, also one that does not exist, and a range without rows. */
  readonly rows: number;
  readonly bytes: number;
  /** Ranges that are not part of each other. */
  readonly ranges: number;
}

export const READ_LIMITS: ReadLimits = {
  rows: contractLimits.rows.value,
  bytes: contractLimits.readBytes.value,
  ranges: contractLimits.ranges.value,
};

/** Those that the budget refuses included. */
export const REQUESTS_PER_CALL_MAX = contractLimits.requests.value;

export interface ReadBudget {
  /** Throws ApiError AnswerTooBig where the budget is used up. */
  spend(key: Uint8Array, value: unknown): void;
  /** Rows that are not looked for, because nothing can have such a key. */
  spendRows(count: number): void;
}

export function createReadBudget(limits: ReadLimits): ReadBudget {
  let { rows, bytes } = limits;
  const check = (): void => {
    if (rows >= 0 && bytes >= 0) return;
    const most = rows < 0 ? `${limits.rows} rows` : `${limits.bytes} bytes`;
    throw apiError('AnswerTooBig', `one execution reads at most ${most}`);
  };
  return {
    spend(key, value) {
      rows--;
      bytes -= key.length + sizeOf(value);
      check();
    },
    spendRows(count) {
      rows -= count;
      check();
    },
  };
}

/** The bytes of a stored record whose fields are all small. */
const RECORD_BYTES = 64;

/** Only data entries and whole transactions are large. */
function sizeOf(value: unknown): number {
  if (value === undefined) return 0;
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null || !('value' in value)) return RECORD_BYTES;
  const content = value.value;
  return typeof content === 'string' || content instanceof Uint8Array ? content.length : 8;
}
