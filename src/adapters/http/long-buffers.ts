/**
 * Memory for long bodies, which is used again: the system takes milliseconds to
 * provide a fresh megabyte, and memory that waits for the garbage collector makes it run again and
 * again. What is unused for a while goes back to the system.
 *
 * A buffer grows in place, so that a body is never copied while it arrives.
 */
export class LongBuffers {
  private readonly bytesMax: number;
  /** Shortest first. */
  private spare: ArrayBuffer[] = [];
  /** Of all buffers, spare or in use. */
  private bytes = 0;
  private timer: NodeJS.Timeout | undefined;

  /** `bytesMax`: of all buffers, as long as those in use need no more. */
  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** At least so long; its contents are undefined. */
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
    this.bytes += more;
  }

  /** Nothing may read the buffer from now on. */
  giveBack(buffer: ArrayBuffer): void {
    this.spare.push(buffer);
    this.spare.sort((a, b) => a.byteLength - b.byteLength);
    this.timer ??= setTimeout(() => this.freeAll(), KEPT_MS).unref();
    this.timer.refresh();
  }

  private free(buffer: ArrayBuffer): void {
    this.bytes -= buffer.byteLength;
    buffer.resize(0);
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
