/** Puts the bytes of a page together. */
const BEGINNING_BYTES = 16 * 1024;
/** Memory that a long event has needed is not kept for the next page. */
const KEPT_BYTES_MAX = 1024 * 1024;
/** Of a UTF-16 unit in UTF-8. */
const UNIT_BYTES_MAX = 3;

export class PageWriter {
  private buffer = beginning();
  private used = 0;

  get length(): number {
    return this.used;
  }

  text(text: string): void {
    this.makeRoom(text.length * UNIT_BYTES_MAX);
    this.used += this.buffer.write(text, this.used);
  }

  bytes(bytes: Uint8Array): void {
    this.makeRoom(bytes.length);
    this.buffer.set(bytes, this.used);
    this.used += bytes.length;
  }

  /** A view of what was written from there on, valid until more is written. */
  written(from = 0): Uint8Array {
    return this.buffer.subarray(from, this.used);
  }

  /** The next page begins. */
  clear(): void {
    this.used = 0;
    if (this.buffer.length > KEPT_BYTES_MAX) this.buffer = beginning();
  }

  private makeRoom(bytes: number): void {
    const needed = this.used + bytes;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.buffer.length));
    this.buffer.copy(larger, 0, 0, this.used);
    this.buffer = larger;
  }
}

const beginning = (): Buffer => Buffer.allocUnsafeSlow(BEGINNING_BYTES);
