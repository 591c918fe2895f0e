/**
 * Messages about blocks (network.md#messages). Integers are big-endian; nothing may follow the end.
 *
 *   Head      u4 height | b64 id | b16 score                                  notice, both ways
 *   GetIds    u2 count 1…100 | count × b64, newest first                      request
 *   Ids       u1 0: no common block
 *             u1 1 | b64 common | u2 count ≤ 101 | count × b64, ascending     answer
 *   GetBlocks u2 count 1…100 | count × b64                                    request
 *   Blocks    u2 count | count × (i4 length | block); length 0: not held      answer, a prefix of
 *             what was asked for: it ends where the next block would be too much
 *   NewBlock  header (header.ts) | u2 count | count × (u1 0 | b32 hash of full bytes, or
 *             u1 1 | i4 length | full bytes)                                  notice, both ways
 *   GetBlockTxs  b64 id | u2 count ≥ 1 | count × u2 index, ascending          request
 *   BlockTxs  u2 count | count × (i4 length | full bytes)                     answer
 *
 * The hash is over full bytes and not the transaction id, since the block's signature covers the
 * proofs, which the id does not (H-18: proofs are not part of the id).
 *
 * Invariants: decoding throws nothing but CodecError, allocates no more than the message has bytes
 * for, and gives views into it.
 */

import { latin1 } from '../../base/bytes.ts';
import { MIB } from '../../base/limits/budget.ts';
import { BLOCK_ID_BYTES, ID_BYTES } from '../../base/sizes.ts';
import { type Header, readHeader, writeHeader } from '../../block/header.ts';
import { type ChainScheme, CodecError, Reader, type Writer } from '../../codec/codec.ts';
import { scratch } from '../../codec/scratch.ts';
import { readTxBytes } from '../../tx/tx-bytes.ts';

export const blockProtocols = {
  head: 'head/1',
  ids: 'ids/1',
  blocks: 'blocks/1',
  newBlock: 'new-block/1',
  blockTxs: 'block-txs/1',
} as const;

const SCORE_BYTES = 16;
const SCORE_END = 1n << 127n;

export const blockLimits = {
  ownIdsMax: 100,
  idsMax: 101,
  blocksMax: 100,
  /** Blocks of one answer; the last may go beyond it. */
  answerBytes: 2 * MIB,
  tipBytesMax: 4 + BLOCK_ID_BYTES + SCORE_BYTES,
  getIdsBytesMax: 2 + 100 * BLOCK_ID_BYTES,
  idsBytesMax: 1 + BLOCK_ID_BYTES + 2 + 101 * BLOCK_ID_BYTES,
  getBlocksBytesMax: 2 + 100 * BLOCK_ID_BYTES,
  /** Indexes of a whole block. */
  getBlockTxsBytesMax: BLOCK_ID_BYTES + 2 + 2 * 65_535,
  headerBytesMax: 512,
} as const;

export interface TipMessage {
  readonly height: number;
  readonly id: Uint8Array;
  readonly score: bigint;
}

export interface Ids {
  readonly common: Uint8Array;
  /** Ids of the blocks after it, ascending. */
  readonly next: readonly Uint8Array[];
}

/** A transaction of a compact block: its hash, or all of it where no pool can have it. */
export type CompactTx =
  | { readonly hash: Uint8Array; readonly bytes?: undefined }
  | { readonly bytes: Uint8Array; readonly hash?: undefined };

export interface CompactBlock {
  readonly header: Header;
  readonly txs: readonly CompactTx[];
}

export interface BlockTxsRequest {
  readonly id: Uint8Array;
  readonly indexes: readonly number[];
}

const wrong = (why: string): CodecError => new CodecError('message', why);

/** Reads all of the bytes. */
function whole<T>(bytes: Uint8Array, scheme: ChainScheme, read: (src: Reader) => T): T {
  const src = new Reader(bytes, scheme);
  const value = read(src);
  src.finish();
  return value;
}

function built(scheme: ChainScheme, write: (out: Writer) => void): Uint8Array {
  const out = scratch(scheme);
  write(out);
  return out.take();
}

function readCount(src: Reader, min: number, max: number, bytesEach: number): number {
  const count = src.u16();
  if (count < min || count > max) throw wrong(`a count of ${count}`);
  if (count * bytesEach > src.remaining) throw wrong(`${count} entries do not fit`);
  return count;
}

const readList = <T>(count: number, read: () => T): T[] => Array.from({ length: count }, read);

export const encodeTip = (head: TipMessage, scheme: ChainScheme): Uint8Array =>
  built(scheme, (out) => {
    out.u32(head.height);
    out.bytes(head.id);
    out.i64(head.score >> 64n);
    out.i64(BigInt.asIntN(64, head.score));
  });

export const decodeTip = (bytes: Uint8Array, scheme: ChainScheme): TipMessage =>
  whole(bytes, scheme, (src) => {
    const height = src.u32();
    const id = src.bytes(BLOCK_ID_BYTES);
    const score = (src.i64() << 64n) + BigInt.asUintN(64, src.i64());
    if (height === 0 || score < 0n || score >= SCORE_END) throw wrong('no height or no score');
    return { height, id, score };
  });

function writeIds(out: Writer, ids: readonly Uint8Array[]): void {
  out.u16(ids.length);
  for (const id of ids) out.bytes(id);
}

const readIds = (src: Reader, min: number, max: number): Uint8Array[] =>
  readList(readCount(src, min, max, BLOCK_ID_BYTES), () => src.bytes(BLOCK_ID_BYTES));

/** A repeated id would be worked on as often as it stands there. */
function requireDistinct(ids: readonly Uint8Array[]): void {
  if (new Set(ids.map(latin1)).size < ids.length) throw wrong('an id twice');
}

/** GetIds and GetBlocks. */
export const encodeIdList = (ids: readonly Uint8Array[], scheme: ChainScheme): Uint8Array =>
  built(scheme, (out) => writeIds(out, ids));

export const decodeIdList = (bytes: Uint8Array, scheme: ChainScheme): Uint8Array[] =>
  whole(bytes, scheme, (src) => {
    const ids = readIds(src, 1, blockLimits.ownIdsMax);
    requireDistinct(ids);
    return ids;
  });

/** Undefined: no common block. */
export const encodeIds = (ids: Ids | undefined, scheme: ChainScheme): Uint8Array =>
  built(scheme, (out) => {
    out.u8(ids === undefined ? 0 : 1);
    if (ids === undefined) return;
    out.bytes(ids.common);
    writeIds(out, ids.next);
  });

export const decodeIds = (bytes: Uint8Array, scheme: ChainScheme): Ids | undefined =>
  whole(bytes, scheme, (src) => {
    const found = src.u8();
    if (found > 1) throw wrong(`${found} is not a flag`);
    if (found === 0) return undefined;
    return { common: src.bytes(BLOCK_ID_BYTES), next: readIds(src, 0, blockLimits.idsMax) };
  });

export const encodeBlocks = (
  blocks: readonly (Uint8Array | undefined)[],
  scheme: ChainScheme,
): Uint8Array =>
  built(scheme, (out) => {
    out.u16(blocks.length);
    for (const block of blocks) {
      out.i32(block?.length ?? 0);
      if (block !== undefined) out.bytes(block);
    }
  });

/** Undefined where the peer does not hold the block. */
export const decodeBlocks = (
  bytes: Uint8Array,
  scheme: ChainScheme,
  blockBytesMax: number,
): (Uint8Array | undefined)[] =>
  whole(bytes, scheme, (src) =>
    readList(readCount(src, 0, blockLimits.blocksMax, 4), () => {
      const length = src.i32();
      if (length < 0 || length > blockBytesMax) throw wrong(`a block of ${length} bytes`);
      return length === 0 ? undefined : src.bytes(length);
    }),
  );

export const encodeCompact = ({ header, txs }: CompactBlock, scheme: ChainScheme): Uint8Array =>
  built(scheme, (out) => {
    writeHeader(out, header);
    out.u16(txs.length);
    for (const { hash, bytes } of txs) {
      out.u8(hash === undefined ? 1 : 0);
      if (hash !== undefined) {
        out.bytes(hash);
        continue;
      }
      out.i32(bytes.length);
      out.bytes(bytes);
    }
  });

/** No block has a transaction twice, so a hash that stands there twice is malformed. */
export const decodeCompact = (bytes: Uint8Array, scheme: ChainScheme): CompactBlock =>
  whole(bytes, scheme, (src) => {
    const header = readHeader(src);
    const hashes = new Set<string>();
    const txs = readList(readCount(src, 0, 65_535, 6), (): CompactTx => {
      const form = src.u8();
      if (form > 1) throw wrong(`${form} is not a form of a transaction`);
      if (form === 1) return { bytes: readTxBytes(src, src.i32()) };
      const hash = src.bytes(ID_BYTES);
      const known = hashes.size;
      if (hashes.add(latin1(hash)).size === known) throw wrong('a transaction hash twice');
      return { hash };
    });
    return { header, txs };
  });

/** The bytes of the header of a compact block, without a look at the rest; a view. */
export function compactHeaderBytes(bytes: Uint8Array, scheme: ChainScheme): Uint8Array {
  const src = new Reader(bytes, scheme);
  readHeader(src);
  return bytes.subarray(0, src.position);
}

export const encodeBlockTxsRequest = (request: BlockTxsRequest, scheme: ChainScheme): Uint8Array =>
  built(scheme, (out) => {
    out.bytes(request.id);
    out.u16(request.indexes.length);
    for (const index of request.indexes) out.u16(index);
  });

export const decodeBlockTxsRequest = (bytes: Uint8Array, scheme: ChainScheme): BlockTxsRequest =>
  whole(bytes, scheme, (src) => {
    const id = src.bytes(BLOCK_ID_BYTES);
    let previous = -1;
    const indexes = readList(readCount(src, 1, 65_535, 2), () => {
      const index = src.u16();
      if (index <= previous) throw wrong('indexes must ascend');
      previous = index;
      return index;
    });
    return { id, indexes };
  });

/** BlockTxs and Txs. */
export const encodeTxList = (txs: readonly Uint8Array[], scheme: ChainScheme): Uint8Array =>
  built(scheme, (out) => {
    out.u16(txs.length);
    for (const tx of txs) {
      out.i32(tx.length);
      out.bytes(tx);
    }
  });

export const decodeTxList = (
  bytes: Uint8Array,
  scheme: ChainScheme,
  countMax = 65_535,
): Uint8Array[] =>
  whole(bytes, scheme, (src) =>
    readList(readCount(src, 0, countMax, 5), () => readTxBytes(src, src.i32())),
  );
