/** Puts the bytes of a page together. */
import type { ByteRing, Span } from './byte-ring.ts';

const BEGINNING_BYTES = 16 * 1024;
/** A long event makes room for itself alone. */
const USUAL_BYTES_MAX = 1024 * 1024;
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

  /** False where the ring has them no more. */
  kept(span: Span, ring: ByteRing): boolean {
    this.makeRoom(span.length);
    if (!ring.copy(span, this.buffer, this.used)) return false;
    this.used += span.length;
    return true;
  }

  /** A view, valid until more is written. */
  bytes(): Uint8Array {
    return this.buffer.subarray(0, this.used);
  }

  /** The next page begins. */
  clear(): void {
    this.used = 0;
    if (this.buffer.length > USUAL_BYTES_MAX) this.buffer = beginning();
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
