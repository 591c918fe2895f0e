/** Where bytes lie in a ring. */
export interface Span {
  /** Counted from the first byte that was ever kept. */
  readonly start: number;
  readonly length: number;
}

/** What is longer than this part of a ring would leave no room for others. */
const LONGEST = 1 / 2;
const NONE = new Uint8Array(0);

/**
 * Bytes that are kept as long as there is room; the oldest give way. They lie outside the heap of
 * JavaScript, which would copy them from one generation to the next, in memory that is used again and
 * again.
 */
export class ByteRing {
  private readonly size: number;
  private memory: Buffer | undefined;
  private end = 0;

  /** `size`: in bytes; the memory is taken when something is to be kept. */
  constructor(size: number) {
    this.size = size;
  }

  /** Undefined where there are too many. */
  keep(bytes: Uint8Array): Span | undefined {
    const { length } = bytes;
    if (length > this.size * LONGEST) return undefined;
    if (length > 0) this.buffer().set(bytes, this.room(length));
    const start = this.end;
    this.end += length;
    return { start, length };
  }

  /** False where later bytes have taken the place. */
  has({ start }: Span): boolean {
    return start >= this.end - this.size;
  }

  /** A view, valid until more is kept; undefined where the bytes are gone. */
  get(span: Span): Uint8Array | undefined {
    if (!this.has(span)) return undefined;
    const at = span.start % this.size;
    return span.length === 0 ? NONE : this.buffer().subarray(at, at + span.length);
  }

  /** Gives the memory back; all that was kept is gone. */
  clear(): void {
    this.memory = undefined;
    this.end += this.size;
  }

  /** Where so many bytes lie in one piece. */
  private room(length: number): number {
    const at = this.end % this.size;
    if (at + length <= this.size) return at;
    this.end += this.size - at;
    return 0;
  }

  private buffer(): Buffer {
    this.memory ??= Buffer.allocUnsafeSlow(this.size);
    return this.memory;
  }
}
