/**
 * Fees of a block (blocks.md#fees-of-a-block). They are counted while its transactions are applied
 * and credited once at its end, so no transaction can spend them in the block that earned them.
 *
 * Without feature 2 the generator gets all fees. With it, the generator gets two fifths of each
 * transaction's fee, rounded down before doubling. The fee of a container is the sum of those of its
 * members. The generator of the next block gets the rest before the first transaction of its block.
 */
import { add } from '../../base/int.ts';
import { credit } from '../../ledger/accounts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { feeCarry } from '../../ledger/tables.ts';
import type { BlockContext } from '../transaction.ts';
import { feature } from './features.ts';

const THE_ROW = 0;

export interface MinedContext extends BlockContext {
  readonly generator: Uint8Array;
}

export class BlockFees {
  private total = 0n;
  private share = 0n;
  private readonly split: boolean;

  constructor(block: BlockContext) {
    this.split = block.features.has(feature.ngProtocol);
  }

  add(fee: bigint): void {
    this.total = add(this.total, fee);
    this.share += this.split ? (fee / 5n) * 2n : fee;
  }

  /** All fees in native units. */
  get sum(): bigint {
    return this.total;
  }

  /** What the generator of this block gets. */
  get current(): bigint {
    return this.share;
  }

  /** What the generator of the next block gets. */
  get carry(): bigint {
    return this.total - this.share;
  }
}

/** Before the first transaction: the generator gets the share that the last block left for it. */
export function openBlock(ledger: Ledger, block: MinedContext): BlockFees {
  const carry = ledger.get(feeCarry, THE_ROW);
  if (carry !== undefined) {
    credit(ledger, block.generator, carry);
    ledger.remove(feeCarry, THE_ROW);
  }
  return new BlockFees(block);
}

/** After the last transaction: pays the generator. */
export function closeBlock(ledger: Ledger, block: MinedContext, fees: BlockFees): void {
  credit(ledger, block.generator, fees.current);
  if (fees.carry > 0n) ledger.set(feeCarry, THE_ROW, fees.carry);
}
