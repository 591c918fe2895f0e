/** Buffers of rows on their way to the writing thread and back; those of the usual size are used again. */
import { BUFFER_BYTES } from './rows.ts';

/** Buffers kept for the next write. */
const SPARE_MAX = 4;

export class RowBuffers {
  private readonly spare: ArrayBuffer[] = [];

  /** A buffer of at least this size, with any content. */
  take(bytes: number): ArrayBuffer {
    const used = bytes <= BUFFER_BYTES ? this.spare.pop() : undefined;
    return used ?? new ArrayBuffer(Math.max(bytes, BUFFER_BYTES));
  }

  giveBack(buffers: readonly ArrayBuffer[]): void {
    for (const buffer of buffers) {
      const fits = buffer.byteLength === BUFFER_BYTES;
      if (fits && this.spare.length < SPARE_MAX) this.spare.push(buffer);
    }
  }
}
