/**
 * Texts and bytes that are kept as long as there is room; the oldest give way. They lie outside the
 * heap of JavaScript, which would copy them from one generation to the next, in memory that is used
 * again and again.
 */
export interface Span {
  /** Counted from the first byte that was ever kept. */
  readonly start: number;
  readonly length: number;
}

/** Of a UTF-16 unit in UTF-8. */
const UNIT_BYTES_MAX = 3;
/** What is longer than this part of the ring would leave no room for others. */
const LONGEST = 1 / 8;

export class ByteRing {
  private readonly size: number;
  private memory: Buffer | undefined;
  private end = 0;

  /** `size`: in bytes; the memory is taken when something is to be kept. */
  constructor(size: number) {
    this.size = size;
  }

  /** Undefined where the text is too long. */
  keepText(text: string): Span | undefined {
    const at = this.room(text.length * UNIT_BYTES_MAX);
    return at === undefined ? undefined : this.kept(this.buffer().write(text, at));
  }

  /** Undefined where there are too many. */
  keep(bytes: Uint8Array): Span | undefined {
    const at = this.room(bytes.length);
    if (at === undefined) return undefined;
    this.buffer().set(bytes, at);
    return this.kept(bytes.length);
  }

  has({ start }: Span): boolean {
    return this.memory !== undefined && start >= this.end - this.size;
  }

  /** A view, valid until more is kept; undefined where what was there is gone. */
  get(span: Span): Uint8Array | undefined {
    const at = span.start % this.size;
    return this.has(span) ? this.buffer().subarray(at, at + span.length) : undefined;
  }

  /** Copies it; false where it is gone. */
  copy(span: Span, target: Uint8Array, to: number): boolean {
    const at = span.start % this.size;
    return this.has(span) && this.buffer().copy(target, to, at, at + span.length) >= 0;
  }

  /** Gives the memory back. */
  clear(): void {
    this.memory = undefined;
    this.end += this.size;
  }

  /** Where so many bytes can be written in one piece. */
  private room(bytes: number): number | undefined {
    if (bytes > this.size * LONGEST) return undefined;
    const at = this.end % this.size;
    if (at + bytes <= this.size) return at;
    this.end += this.size - at;
    return 0;
  }

  private kept(length: number): Span {
    const start = this.end;
    this.end += length;
    return { start, length };
  }

  private buffer(): Buffer {
    this.memory ??= Buffer.allocUnsafeSlow(this.size);
    return this.memory;
  }
}
