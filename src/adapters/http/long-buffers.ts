/**
 * Reusable memory for long bodies. The system takes milliseconds to provide a new megabyte, and
 * memory that waits for the garbage collector makes the collector run repeatedly. Buffers that are
 * unused for a while return to the system.
 *
 * A buffer grows in place, so that a body is never copied while it arrives.
 */
export class LongBuffers {
  private readonly bytesMax: number;
  /** Shortest first. */
  private spare: ArrayBuffer[] = [];
  /** Bytes of all buffers, spare or in use. */
  private bytes = 0;
  /** The length of each buffer that has any. */
  private readonly lengths = new Map<ArrayBuffer, number>();
  private timer: NodeJS.Timeout | undefined;

  /** `bytesMax`: the most bytes of all buffers, unless those in use need more. */
  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** A buffer of at least this length; its contents are undefined. */
  take(length: number): ArrayBuffer {
    const buffer = this.spare.pop() ?? new ArrayBuffer(0, { maxByteLength: this.bytesMax });
    this.grow(buffer, length);
    return buffer;
  }

  grow(buffer: ArrayBuffer, length: number): void {
    const more = length - buffer.byteLength;
    if (more <= 0) return;
    while (this.bytes + more > this.bytesMax && this.spare.length > 0) {
      this.free(this.spare.shift()!);
    }
    buffer.resize(length);
    this.lengths.set(buffer, length);
    this.bytes += more;
  }

  /** Called when nothing reads the buffer any more. */
  giveBack(buffer: ArrayBuffer): void {
    if (buffer.detached) {
      // Another thread has its memory.
      this.forget(buffer);
      return;
    }
    this.spare.push(buffer);
    this.spare.sort((a, b) => a.byteLength - b.byteLength);
    this.timer ??= setTimeout(() => this.freeAll(), KEPT_MS).unref();
    this.timer.refresh();
  }

  private free(buffer: ArrayBuffer): void {
    this.forget(buffer);
    buffer.resize(0);
  }

  private forget(buffer: ArrayBuffer): void {
    this.bytes -= this.lengths.get(buffer) ?? 0;
    this.lengths.delete(buffer);
  }

  private freeAll(): void {
    for (const buffer of this.spare) this.free(buffer);
    this.spare = [];
  }

  close(): void {
    clearTimeout(this.timer);
    this.freeAll();
  }
}

const KEPT_MS = 5_000;
