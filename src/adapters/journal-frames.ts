/**
 * The frames of the journal: how records lie in the file, and their recovery after a crash or
 * damage.
 *
 * Frame: mark 8, kind u8, length u32, CRC-32 u32 over kind, length and record, record. So neither
 * an incomplete write nor the zeros that a crash can leave look like a record.
 *
 * The mark is a random number of this file, and nobody outside the node knows it. So bytes of a
 * record never look like the beginning of a frame, whoever has made them, and the search behind
 * damage finds frames that this node has written and no others.
 *
 * The first frame of each write is marked as such. A write begins only once the one before it is on
 * disk. So damage in front of such a frame is damage; behind the last one it may as well be the
 * remains of a write that a power failure has ended, and nothing there was promised to anyone.
 */
import { crc32 } from 'node:zlib';

export const MARK_BYTES = 8;
const KIND_AT = MARK_BYTES;
const LENGTH_AT = KIND_AT + 1;
const SUM_AT = LENGTH_AT + 4;
export const FRAME_BYTES = SUM_AT + 4;
/** What the checksum covers in front of the record. */
const HEAD_BYTES = SUM_AT - KIND_AT;
/** A buffer is kept for the next frames up to this size. */
const KEPT_BYTES = 1024 * 1024;

const KIND = {
  /** A further record of the same write. */
  further: 0,
  /** The first record of a write. */
  first: 1,
  /** No record; everything in front of it is on disk. */
  seal: 2,
} as const;
const NOTHING = new Uint8Array(0);

/** Frames that one write sends to the disk. */
export class Frames {
  private readonly mark: Uint8Array;
  private buffer = Buffer.allocUnsafeSlow(4096);
  length = 0;

  constructor(mark: Uint8Array) {
    this.mark = mark;
  }

  add(record: Uint8Array): void {
    this.addFrame(this.length === 0 ? KIND.first : KIND.further, record);
  }

  /** Says that everything in front of it is on disk once this is. */
  addSeal(): void {
    this.addFrame(KIND.seal, NOTHING);
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

  private addFrame(kind: number, record: Uint8Array): void {
    const { length } = record;
    const at = this.room(FRAME_BYTES + length);
    const { buffer } = this;
    buffer.set(record, at + FRAME_BYTES);
    // First right before the record, so that the checksum has one piece to read.
    const head = at + FRAME_BYTES - HEAD_BYTES;
    buffer[head] = kind;
    buffer.writeUInt32BE(length, head + 1);
    const sum = crc32(buffer.subarray(head, at + FRAME_BYTES + length));
    buffer.set(this.mark, at);
    buffer[at + KIND_AT] = kind;
    buffer.writeUInt32BE(length, at + LENGTH_AT);
    buffer.writeUInt32BE(sum, at + SUM_AT);
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
 * The frames of a whole file, in pieces of about the size of the kept buffer: `records`, then
 * frames that exist, then a seal. Each piece is valid until the next is asked for.
 */
export function* piecesOf(
  mark: Uint8Array,
  records: Iterable<Uint8Array>,
  last: Uint8Array,
): Generator<Uint8Array> {
  const frames = new Frames(mark);
  for (const record of records) {
    if (frames.length > 0 && frames.length + FRAME_BYTES + record.length > KEPT_BYTES) {
      yield frames.bytes();
      frames.clear();
    }
    frames.add(record);
  }
  frames.addFrames(last);
  frames.addSeal();
  yield frames.bytes();
}

/** What is in a file. Places are parts in front of a good frame that are no good frames. */
export interface Recovered {
  readonly records: Uint8Array[];
  /** Damage to what was promised: the number of places, and their bytes. */
  readonly places: number;
  readonly damagedBytes: number;
  /** Frames with damage to their head, of which the record could be proved all the same. */
  readonly restored: number;
  /** The end of the last good frame. Behind it are remains of a write that a crash has ended. */
  readonly end: number;
  /** That frame is a seal. */
  readonly isSealed: boolean;
  /** Bytes of such remains in front of that end. */
  readonly unfinishedBytes: number;
}

/** The checksum of a part of the file that begins with kind and length of a frame. */
export type Checksum = (bytes: Uint8Array, start?: number) => number;

interface Frame {
  readonly kind: number;
  readonly end: number;
}

/**
 * Reads the frames from `start` on. Behind damage it goes on at the next mark. The work is linear:
 * a frame ends at the next mark at the latest, and its checksum is computed at most twice.
 */
export function recordsIn(
  bytes: Buffer,
  start: number,
  mark: Uint8Array,
  checksum: Checksum = crc32,
): Recovered {
  const records: Uint8Array[] = [];
  const holes: [at: number, end: number][] = [];
  const restored: number[] = [];
  let hole: number | undefined;
  /** Everything in front of it was on disk before more was written. */
  let settled = start;
  let end = start;
  let isSealed = false;
  let next = start;
  for (let at = start; at < bytes.length; ) {
    if (next <= at) next = nextMark(bytes, at + FRAME_BYTES, mark);
    const stored = frameAt(bytes, at, next, checksum);
    const frame = stored ?? upTo(bytes, at, next, checksum);
    if (frame === undefined) {
      hole ??= at;
      at = next;
      continue;
    }
    if (hole !== undefined) holes.push([hole, at]);
    hole = undefined;
    if (stored === undefined || !isMark(bytes, at, mark)) restored.push(at);
    if (frame.kind !== KIND.further) settled = at;
    isSealed = frame.kind === KIND.seal;
    if (!isSealed) records.push(recordOf(bytes, at, frame));
    at = frame.end;
    end = at;
  }
  const sum = (all: typeof holes): number =>
    all.reduce((total, [from, to]) => total + to - from, 0);
  const damaged = holes.filter(([at]) => at < settled);
  return {
    records,
    places: damaged.length,
    damagedBytes: sum(damaged),
    restored: restored.filter((at) => at < settled).length,
    end,
    isSealed,
    unfinishedBytes: sum(holes) - sum(damaged),
  };
}

function nextMark(bytes: Buffer, from: number, mark: Uint8Array): number {
  const at = bytes.indexOf(mark, from);
  return at < 0 ? bytes.length : at;
}

const isMark = (bytes: Buffer, at: number, mark: Uint8Array): boolean =>
  bytes.subarray(at, at + MARK_BYTES).equals(mark);

const recordOf = (bytes: Buffer, at: number, { end }: Frame): Uint8Array =>
  new Uint8Array(bytes.subarray(at + FRAME_BYTES, end));

/** The frame as it stands; undefined where it is none. */
function frameAt(bytes: Buffer, at: number, next: number, sum: Checksum): Frame | undefined {
  if (at + FRAME_BYTES > next) return undefined;
  const end = at + FRAME_BYTES + bytes.readUInt32BE(at + LENGTH_AT);
  return end <= next ? provenFrame(bytes, at, end, sum) : undefined;
}

/** The frame up to the next one, where only its length is damaged. */
const upTo = (bytes: Buffer, at: number, next: number, sum: Checksum): Frame | undefined =>
  at + FRAME_BYTES > next ? undefined : provenFrame(bytes, at, next, sum);

function provenFrame(bytes: Buffer, at: number, end: number, sum: Checksum): Frame | undefined {
  const kind = bytes[at + KIND_AT]!;
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = kind;
  head.writeUInt32BE(end - at - FRAME_BYTES, 1);
  const proven = sum(bytes.subarray(at + FRAME_BYTES, end), sum(head));
  return proven === bytes.readUInt32BE(at + SUM_AT) ? { kind, end } : undefined;
}
