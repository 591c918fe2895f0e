/** Values that several services of the node hand to the routes, or take from them. */
import type { Tx } from '../tx/transaction.ts';

/** A transaction together with the height of its block. */
export interface ConfirmedTx {
  readonly tx: Tx;
  readonly height: number;
}

/** Which part of an account's or contract's entries is asked for. */
export interface EntriesQuery {
  readonly offset: number;
  readonly limit: number;
  /** Keys that pass; absent: all. */
  readonly accepts?: (key: string) => boolean;
}
