/**
 * The header of the journal's file, which holds the mark of its frames. Without the mark nothing can
 * be found behind damage, so the header has copies, each on a page of its own.
 *
 * Copy: magic 8, mark 8, CRC-32 u32 over both.
 */
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { MARK_BYTES } from './journal-frames.ts';

const MAGIC = Buffer.from('PNJOURN2', 'latin1');
const COPIES = 4;
const PAGE_BYTES = 4096;
const SUM_AT = MAGIC.length + MARK_BYTES;
const COPY_BYTES = SUM_AT + 4;
/** The first frame begins here. */
export const HEADER_BYTES = COPIES * PAGE_BYTES;

export const newMark = (): Uint8Array => randomBytes(MARK_BYTES);

export function headerOf(mark: Uint8Array): Uint8Array {
  const copy = Buffer.alloc(COPY_BYTES);
  copy.set(MAGIC);
  copy.set(mark, MAGIC.length);
  copy.writeUInt32BE(crc32(copy.subarray(0, SUM_AT)), SUM_AT);
  const header = new Uint8Array(HEADER_BYTES);
  for (let i = 0; i < COPIES; i++) header.set(copy, i * PAGE_BYTES);
  return header;
}

export interface Header {
  readonly mark: Uint8Array;
  /** The number of damaged copies. */
  readonly damaged: number;
}

/** Undefined where no copy of a header is whole. */
export function headerIn(bytes: Buffer): Header | undefined {
  const copies = Array.from({ length: COPIES }, (_, i) =>
    bytes.subarray(i * PAGE_BYTES, i * PAGE_BYTES + COPY_BYTES),
  );
  const whole = copies.filter(isWhole);
  if (whole[0] === undefined) return undefined;
  const mark = new Uint8Array(whole[0].subarray(MAGIC.length, SUM_AT));
  return { mark, damaged: COPIES - whole.length };
}

const isWhole = (copy: Buffer): boolean =>
  copy.length === COPY_BYTES &&
  copy.subarray(0, MAGIC.length).equals(MAGIC) &&
  copy.readUInt32BE(SUM_AT) === crc32(copy.subarray(0, SUM_AT));
