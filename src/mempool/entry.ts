/**
 * A transaction that waits in the pool. It is kept as bytes, since an object for each field would
 * cost ten times the memory.
 */
import { latin1 } from '../base/bytes.ts';
import type { ProofVerdicts } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import type { Spending } from './spending.ts';
import type { Ordered } from './time-order.ts';

export interface PoolEntry extends Ordered {
  readonly bytes: Uint8Array;
  readonly id: Uint8Array;
  readonly sender: string;
  /** Found once, for as long as it waits and for the block that takes it. */
  readonly verdicts: ProofVerdicts;
  spending: Spending;
  /** True once the listeners of the pool have heard of it. */
  announced: boolean;
  /** True of a transaction of a block that was taken back. */
  readonly returned: boolean;
  /** Hash of the bytes as Latin-1 text, once it was asked for (bytes-index.ts). */
  bytesHash: string | undefined;
}

export const entryOf = (
  tx: Tx,
  verdicts: ProofVerdicts,
  spending: Spending,
  returned: boolean,
): PoolEntry => ({
  key: latin1(tx.id),
  id: tx.id,
  bytes: tx.bytes.slice(),
  timestamp: tx.timestamp,
  sender: latin1(tx.sender),
  verdicts,
  spending,
  announced: false,
  returned,
  bytesHash: undefined,
  removed: false,
});
