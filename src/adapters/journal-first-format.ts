/**
 * The frames of the first format of the journal, which had neither header nor marks: length u32,
 * CRC-32 u32 over length and record, record. A file in it is read once and then replaced.
 *
 * A good frame behind damage cannot be told from bytes of a record that look like one. So reading
 * goes on only where the next frame begins right behind a single damaged one.
 */
import { crc32 } from 'node:zlib';
import type { Recovered } from './journal-frames.ts';

const FRAME_BYTES = 8;

/** What stands behind the last good frame counts as damage: remains of a crash look the same. */
export function firstFormatIn(bytes: Buffer): Recovered {
  const records: Uint8Array[] = [];
  let damagedBytes = 0;
  let places = 0;
  let restored = 0;
  let at = 0;
  while (bytes.length - at >= FRAME_BYTES) {
    const stored = bytes.readUInt32BE(at);
    const length = isGood(bytes, at, stored) ? stored : rightLength(bytes, at, stored);
    const end = at + FRAME_BYTES + (length ?? stored);
    if (length !== undefined) {
      records.push(new Uint8Array(bytes.subarray(at + FRAME_BYTES, end)));
      if (length !== stored) restored += 1;
    } else if (isFrame(bytes, end)) {
      damagedBytes += end - at;
      places += 1;
    } else break;
    at = end;
  }
  if (at < bytes.length) places += 1;
  damagedBytes += bytes.length - at;
  const isSealed = false;
  return { records, places, damagedBytes, restored, end: at, isSealed, unfinishedBytes: 0 };
}

const isFrame = (bytes: Buffer, at: number): boolean =>
  bytes.length - at >= FRAME_BYTES && isGood(bytes, at, bytes.readUInt32BE(at));

/** Whether the frame at this place, with this length in it, has its checksum. */
function isGood(bytes: Buffer, at: number, length: number): boolean {
  if (at + FRAME_BYTES + length > bytes.length) return false;
  const head = Buffer.alloc(4);
  head.writeUInt32BE(length);
  const record = bytes.subarray(at + FRAME_BYTES, at + FRAME_BYTES + length);
  return bytes.readUInt32BE(at + 4) === crc32(record, crc32(head));
}

/** The length of which one bit was flipped, if that makes a good frame. */
function rightLength(bytes: Buffer, at: number, stored: number): number | undefined {
  for (let bit = 0; bit < 32; bit++) {
    const length = (stored ^ (1 << bit)) >>> 0;
    if (isGood(bytes, at, length)) return length;
  }
  return undefined;
}
