/**
 * How many bytes a transaction may have. Every input uses these limits: JSON, bytes, the pool and
 * its journal, blocks, messages between nodes, and files. Each checks the size before it does work
 * on the contents.
 */
import { type ApiError, apiError } from '../base/errors.ts';
import type { TxType } from './transaction.ts';

const KIB = 1024;
export const TX_BYTES_MAX = 150 * KIB;
/** An executed contract (105) holds another transaction and its results. */
export const EXECUTED_TX_BYTES_MAX = 300 * KIB;
/** Transactions that create, call or update a contract. */
export const CONTRACT_TX_BYTES_MAX = 125 * KIB;

/** The most items that fit into a transaction; no item is shorter than `itemBytes`. */
export const mostItems = (itemBytes: number, bytesMax = TX_BYTES_MAX): number =>
  Math.floor(bytesMax / itemBytes);

type Sized = Pick<TxType, 'bytesMax' | 'tooBig'>;

/** Throws ApiError where a transaction of this type may not have this many bytes. */
export function requireSize({ bytesMax = TX_BYTES_MAX, tooBig }: Sized, actual: number): void {
  if (actual <= bytesMax) return;
  throw (
    tooBig?.(actual, bytesMax) ??
    apiError('TooBigSequence', `a transaction of ${actual} bytes, at most ${bytesMax} are allowed`)
  );
}

/** The refusal of contract transactions. */
export const contractTooBig = (actual: number, max: number): ApiError =>
  apiError('ContractTooBig', actual, max);
