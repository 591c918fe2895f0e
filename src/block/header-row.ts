/**
 * A row of the table `headers`: the header of a block and its totals, counted when it was applied.
 *
 *   header     header.ts, without fields 7–9
 *   u4  bytes of the whole block
 *   u4  number of transactions
 *   i8  fees in the native token
 *   i16 score of the chain up to this block: 16 bytes, since a sum of 64-bit scores outgrows eight
 */
import { type ChainScheme, Reader } from '../codec/codec.ts';
import { scratch } from '../codec/scratch.ts';
import { type Header, readHeader, writeHeader } from './header.ts';

export interface HeaderRow {
  readonly header: Header;
  readonly blockSize: number;
  readonly transactionCount: number;
  readonly fee: bigint;
  /** Score of the chain that ends with this block (consensus.md#choice-between-forks). */
  readonly score: bigint;
}

export function encodeHeaderRow(row: HeaderRow, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  writeHeader(out, row.header);
  out.i32(row.blockSize);
  out.i32(row.transactionCount);
  out.i64(row.fee);
  out.i64(row.score >> 64n);
  out.i64(BigInt.asIntN(64, row.score));
  return out.take();
}

/** Byte fields of the header are views into `bytes`. */
export function decodeHeaderRow(bytes: Uint8Array, scheme: ChainScheme): HeaderRow {
  const src = new Reader(bytes, scheme);
  const header = readHeader(src);
  const blockSize = src.i32();
  const transactionCount = src.i32();
  const fee = src.i64();
  const score = (src.i64() << 64n) + BigInt.asUintN(64, src.i64());
  src.finish();
  return { header, blockSize, transactionCount, fee, score };
}
