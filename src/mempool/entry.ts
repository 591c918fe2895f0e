/**
 * A transaction that waits in the pool. The pool keeps it as bytes, since objects for all fields
 * would take ten times the memory, and the garbage collector would copy them while they wait. Its id
 * is the key: as bytes it would take 230 bytes more. The bytes are a place in shared memory, since a
 * view that waits would take 96.
 */
import { fromLatin1, latin1 } from '../base/bytes.ts';
import type { ProofVerdicts } from '../tx/proof-verdicts.ts';
import type { Tx, TxType } from '../tx/transaction.ts';
import type { Counted } from './senders.ts';
import type { Spending } from './spending.ts';
import type { Ordered } from './time-order.ts';

export class PoolEntry implements Ordered, Counted {
  readonly key: string;
  readonly def: TxType;
  readonly timestamp: number;
  sender: string;
  /** The number of its bytes. */
  readonly size: number;
  private readonly memory: ArrayBufferLike;
  private readonly at: number;
  /** Found once; used while the entry waits, and for the block that contains it. */
  readonly verdicts: ProofVerdicts;
  native: bigint;
  assets: Spending['assets'];
  /** True once the listeners of the pool have received it. */
  announced = false;
  /** True for a transaction of a block that was rolled back. */
  readonly returned: boolean;
  /** The hash of the bytes as Latin-1 text, once it has been computed (bytes-index.ts). */
  bytesHash: string | undefined;
  removed = false;

  /** The bytes of `tx` are in memory that belongs to the pool. */
  constructor(
    tx: Pick<Tx, 'def' | 'timestamp' | 'bytes'>,
    { key, sender, bytesHash }: EntryTexts,
    verdicts: ProofVerdicts,
    { native, assets }: Spending,
    returned: boolean,
  ) {
    this.key = key;
    this.def = tx.def;
    this.timestamp = tx.timestamp;
    this.sender = sender;
    this.size = tx.bytes.length;
    this.memory = tx.bytes.buffer;
    this.at = tx.bytes.byteOffset;
    this.verdicts = verdicts;
    this.native = native;
    this.assets = assets;
    this.returned = returned;
    this.bytesHash = bytesHash;
  }

  /** A view, new at each call. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.memory, this.at, this.size);
  }

  /** True where these are the bytes of the entry, and not equal ones. */
  holds({ buffer, byteOffset }: Uint8Array): boolean {
    return buffer === this.memory && byteOffset === this.at;
  }
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
