/**
 * Buffers in which batches travel to the threads and back; buffers of the usual size are used
 * again.
 */
import type { SignatureCheck } from '../../base/ports.ts';
import { batchOverhead, type CheckSizes, itemSize, writeBatch } from './signature-batch.ts';
import { verifyPoolLimits } from './signature-limits.ts';

const { batchChecks, batchBytes } = verifyPoolLimits;
const USUAL_BYTES = batchOverhead(batchChecks) + batchBytes;

export class SignatureBuffers {
  private readonly sizes: CheckSizes;
  private readonly spareMax: number;
  private readonly spare: ArrayBuffer[] = [];

  constructor(sizes: CheckSizes, spareMax: number) {
    this.sizes = sizes;
    this.spareMax = spareMax;
  }

  /** A buffer with the checks, at most `batchChecks` of them. */
  write(items: readonly SignatureCheck[]): ArrayBuffer {
    const size = items.reduce((sum, item) => sum + itemSize(this.sizes, item), 0);
    const spare = size <= batchBytes ? this.spare.pop() : undefined;
    const room = batchOverhead(batchChecks) + Math.max(batchBytes, size);
    const buffer = spare ?? new ArrayBuffer(room);
    writeBatch(buffer, this.sizes, items);
    return buffer;
  }

  /** Called when the buffer has come back and its verdicts have been read. */
  giveBack(buffer: ArrayBuffer): void {
    if (buffer.byteLength === USUAL_BYTES && this.spare.length < this.spareMax) {
      this.spare.push(buffer);
    }
  }
}
