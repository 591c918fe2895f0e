/**
 * A transaction that waits in the pool. The pool keeps it as bytes, since objects for all fields
 * would take ten times the memory, and the garbage collector would copy them while they wait. Its id
 * is the key: as bytes it would take 230 bytes more, a third of the entry.
 */
import { fromLatin1, latin1 } from '../base/bytes.ts';
import type { ProofVerdicts } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import type { Spending } from './spending.ts';
import type { Ordered } from './time-order.ts';

export interface PoolEntry extends Ordered {
  readonly bytes: Uint8Array;
  readonly sender: string;
  /** Found once; used while the entry waits, and for the block that contains it. */
  readonly verdicts: ProofVerdicts;
  spending: Spending;
  /** True once the listeners of the pool have received it. */
  announced: boolean;
  /** True for a transaction of a block that was rolled back. */
  readonly returned: boolean;
  /** The hash of the bytes as Latin-1 text, once it has been computed (bytes-index.ts). */
  bytesHash: string | undefined;
}

export const idOf = (entry: PoolEntry): Uint8Array => fromLatin1(entry.key);

/** What names an entry, as Latin-1 texts: its id, its sender, and the hash of its bytes if known. */
export interface EntryTexts {
  readonly key: string;
  readonly sender: string;
  readonly bytesHash: string | undefined;
}

export const textsOf = (tx: Tx): EntryTexts => ({
  key: latin1(tx.id),
  sender: latin1(tx.sender),
  bytesHash: undefined,
});

/** `tx` consists of views of memory that belongs to the pool. */
export const entryOf = (
  tx: Tx,
  { key, sender, bytesHash }: EntryTexts,
  verdicts: ProofVerdicts,
  spending: Spending,
  returned: boolean,
): PoolEntry => ({
  key,
  bytes: tx.bytes,
  timestamp: tx.timestamp,
  sender,
  verdicts,
  spending,
  announced: false,
  returned,
  bytesHash,
  removed: false,
});
