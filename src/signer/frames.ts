/** Frames of the signer protocol: u4 length, then so many bytes (docs/protocol/signer.md). */
import { concat } from '../base/bytes.ts';

const LENGTH_BYTES = 4;
/** Parts of a frame before they are joined: the arguments of one call. */
const PARTS_MAX = 1000;

export function frameOf(body: Uint8Array): Uint8Array {
  const frame = new Uint8Array(LENGTH_BYTES + body.length);
  new DataView(frame.buffer).setUint32(0, body.length);
  frame.set(body, LENGTH_BYTES);
  return frame;
}

/** The other side does not keep to the protocol. */
export class BadFrame extends Error {
  override name = 'BadFrame';
}

/** Cuts what comes into frames. What waits for its end is never more than one frame. */
export class FrameReader {
  private readonly bytesMax: number;
  private parts: Uint8Array[] = [];
  private length = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** A frame has begun and not ended. */
  get isInside(): boolean {
    return this.length > 0;
  }

  /** The bodies that are complete now. Throws BadFrame. */
  *take(chunk: Uint8Array): Generator<Uint8Array> {
    this.parts.push(chunk);
    if (this.parts.length > PARTS_MAX) this.parts = [concat(...this.parts)];
    this.length += chunk.length;
    while (this.length >= LENGTH_BYTES) {
      const needed = this.needed();
      if (this.length < needed) return;
      const all = concat(...this.parts);
      const rest = all.subarray(needed);
      this.parts = rest.length === 0 ? [] : [rest];
      this.length = rest.length;
      yield all.subarray(LENGTH_BYTES, needed);
    }
  }

  private needed(): number {
    if (this.parts[0]!.length < LENGTH_BYTES) this.parts = [concat(...this.parts)];
    const [first] = this.parts as [Uint8Array];
    const length = new DataView(first.buffer, first.byteOffset, first.length).getUint32(0);
    if (length === 0 || length > this.bytesMax) {
      throw new BadFrame(`a frame of ${length} bytes, expected 1 to ${this.bytesMax}`);
    }
    return LENGTH_BYTES + length;
  }
}
