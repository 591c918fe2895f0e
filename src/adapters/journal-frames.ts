/**
 * The frames of the journal: records in the file, and their recovery after a crash or a flipped
 * bit.
 *
 * Frame: length u32, CRC-32 u32 over length and record, record. The checksum covers the length too.
 * So neither an incomplete write nor the zeros that a crash can leave look like a record.
 */
import { crc32 } from 'node:zlib';

export const FRAME_BYTES = 8;
/** A buffer is kept for the next frames up to this size. */
const KEPT_BYTES = 1024 * 1024;

/** Frames that one write sends to the disk. */
export class Frames {
  private buffer = Buffer.allocUnsafeSlow(4096);
  length = 0;

  add(record: Uint8Array): void {
    const { length } = record;
    const at = this.room(FRAME_BYTES + length);
    const { buffer } = this;
    buffer.set(record, at + FRAME_BYTES);
    // First where the checksum will be: length and record are then one piece for it.
    buffer.writeUInt32BE(length, at + 4);
    const sum = crc32(buffer.subarray(at + 4, at + FRAME_BYTES + length));
    buffer.writeUInt32BE(length, at);
    buffer.writeUInt32BE(sum, at + 4);
  }

  addFrames(frames: Uint8Array): void {
    // Making room may replace the buffer, so it comes first.
    const at = this.room(frames.length);
    this.buffer.set(frames, at);
  }

  /** A view, valid until the next change. */
  bytes(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
    if (this.buffer.length > KEPT_BYTES) this.buffer = Buffer.allocUnsafeSlow(KEPT_BYTES);
  }

  private room(count: number): number {
    const at = this.length;
    const end = at + count;
    if (end > this.buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.buffer.length));
      grown.set(this.buffer.subarray(0, at));
      this.buffer = grown;
    }
    this.length = end;
    return at;
  }
}

/**
 * A whole file, in pieces of about the size of the kept buffer: `records`, then frames that exist.
 * Each piece is valid until the next is asked for.
 */
export function* piecesOf(records: Iterable<Uint8Array>, last: Uint8Array): Generator<Uint8Array> {
  const frames = new Frames();
  for (const record of records) {
    if (frames.length > 0 && frames.length + FRAME_BYTES + record.length > KEPT_BYTES) {
      yield frames.bytes();
      frames.clear();
    }
    frames.add(record);
  }
  frames.addFrames(last);
  yield frames.bytes();
}

/** The content of a file. */
export interface Recovered {
  readonly records: Uint8Array[];
  /** Records, among those before the last whole one, that were not what was written. */
  readonly damaged: number;
  /** The end of the complete records. */
  readonly end: number;
}

/**
 * The complete records. A good frame follows a frame with a flipped bit, which distinguishes it
 * from the remains of a crash at the end. Where the flipped bit is in the length, another length
 * gives a good frame.
 */
export function recordsIn(bytes: Buffer): Recovered {
  const records: Uint8Array[] = [];
  let damaged = 0;
  let at = 0;
  while (bytes.length - at >= FRAME_BYTES) {
    const stored = bytes.readUInt32BE(at);
    const length = isGood(bytes, at, stored) ? stored : rightLength(bytes, at, stored);
    if (length !== stored) damaged++;
    if (length !== undefined) {
      const end = at + FRAME_BYTES + length;
      records.push(new Uint8Array(bytes.subarray(at + FRAME_BYTES, end)));
      at = end;
    } else if (isFollowed(bytes, at + FRAME_BYTES + stored)) {
      at += FRAME_BYTES + stored;
    } else {
      damaged--;
      break;
    }
  }
  return { records, damaged, end: at };
}

/** Whether the frame at this place, with this length in it, has its checksum. */
function isGood(bytes: Buffer, at: number, length: number): boolean {
  if (at + FRAME_BYTES + length > bytes.length) return false;
  const header = Buffer.alloc(4);
  header.writeUInt32BE(length);
  const record = bytes.subarray(at + FRAME_BYTES, at + FRAME_BYTES + length);
  return bytes.readUInt32BE(at + 4) === crc32(record, crc32(header));
}

/** The length of which one bit was flipped, if that makes a good frame. */
function rightLength(bytes: Buffer, at: number, stored: number): number | undefined {
  for (let bit = 0; bit < 32; bit++) {
    const length = (stored ^ (1 << bit)) >>> 0;
    if (isGood(bytes, at, length)) return length;
  }
  return undefined;
}

const isFollowed = (bytes: Buffer, at: number): boolean =>
  bytes.length - at >= FRAME_BYTES && isGood(bytes, at, bytes.readUInt32BE(at));
