/**
 * A block: header and transactions in one signed byte string (blocks.md#block-bytes,
 * blocks.md#limits-of-a-block).
 *
 *   fields 1–6                 see header.ts
 *   i4  transactions length    bytes of the next two
 *   u1 | i4  count             u1 in version 1, i4 in the others
 *   count × (i4 length, bytes)
 *   fields 10–13               see header.ts
 *
 * There is no transaction root, because the signature covers the bytes of every transaction. In version
 * 100 it covers their hash: that of everything from the length of the transactions to the justification.
 * Decoding returns each transaction as a view of its bytes, so that the caller can decode thousands
 * of them in portions.
 *
 * Invariant: encodeBlock(decodeBlock(bytes)) gives the same bytes (H-3: one encoding of a block).
 */

import { equal } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import type { SignNow } from '../base/signer/signing.ts';
import { SIGNATURE_BYTES } from '../base/sizes.ts';
import { type ChainScheme, CodecError, Reader, type Writer } from '../codec/codec.ts';
import { scratch } from '../codec/scratch.ts';
import { readTxBytes } from '../tx/tx-bytes.ts';
import {
  BLOCK_VERSION,
  type BlockVersion,
  BOUND_VERSION,
  boundBytes,
  boundOf,
  GENESIS_VERSION,
  type Header,
  JUSTIFICATION_BYTES_MAX,
  readHeaderStart,
  readTail,
  type UnsignedHeader,
  writeHeaderStart,
  writeTail,
} from './header.ts';

/** Version 1 has a count byte, which other implementations read as signed. */
export const GENESIS_TRANSACTIONS_MAX = 127;
/** The index of a transaction in its block is a u16 everywhere in the store. */
export const TRANSACTIONS_MAX = 65_535;

export interface Block {
  readonly header: Header;
  /** The full bytes of each transaction; of a decoded block, views into `bytes`. */
  readonly transactions: readonly Uint8Array[];
  /** The whole block; `blocksize` is its length. */
  readonly bytes: Uint8Array;
}

/** The id of a block is its signature. */
export const blockId = (block: { readonly header: Header }): Uint8Array => block.header.signature;

/**
 * The bytes that the generator signs: everything before the signature, as a view. Those of version 100 bind
 * the transactions only where `hasOwnBody`.
 */
export const signedBytes = (
  { header, bytes }: Pick<Block, 'header' | 'bytes'>,
  scheme: ChainScheme,
): Uint8Array =>
  header.version === BOUND_VERSION
    ? boundBytes(header, scheme)
    : bytes.subarray(0, bytes.length - SIGNATURE_BYTES);

/** Whether the header of a block of version 100 is that of its transactions and its justification. */
export const hasOwnBody = (
  { header, bytes }: Pick<Block, 'header' | 'bytes'>,
  scheme: ChainScheme,
): boolean =>
  header.version !== BOUND_VERSION ||
  equal(bodyHash(header, bytes, scheme), boundOf(header).bodyHash);

const LENGTH_BYTES = 4;
/** Fields 1 to 3. */
const BEFORE_CONSENSUS = 1 + 8 + SIGNATURE_BYTES;

function bodyHash(header: UnsignedHeader, bytes: Uint8Array, scheme: ChainScheme): Uint8Array {
  const lengths = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = BEFORE_CONSENSUS + LENGTH_BYTES + lengths.getInt32(BEFORE_CONSENSUS);
  const end = start + LENGTH_BYTES + lengths.getInt32(start);
  const { justification } = boundOf(header);
  return scheme.fastHash(bytes.subarray(start, end + LENGTH_BYTES + justification.length));
}

/** A block that has everything but its signature, with the hash of its body in version 100. */
export function unsealedBlock(
  header: UnsignedHeader,
  transactions: readonly Uint8Array[],
  scheme: ChainScheme,
): { readonly message: Uint8Array; readonly seal: (signature: Uint8Array) => Block } {
  const unsigned = encodeUnsigned(header, transactions, scheme);
  return {
    message: toSign(header, unsigned, scheme),
    seal(signature) {
      const bytes = new Uint8Array(unsigned.length + SIGNATURE_BYTES);
      bytes.set(unsigned);
      bytes.set(signature, unsigned.length);
      return decodeBlock(bytes, scheme);
    },
  };
}

/** Makes a block; `sign` receives the bytes to sign. */
export function sealBlock(
  header: UnsignedHeader,
  transactions: readonly Uint8Array[],
  scheme: ChainScheme,
  sign: SignNow,
): Block {
  const { message, seal } = unsealedBlock(header, transactions, scheme);
  return seal(sign(message));
}

/** Puts the hash of the body into the bytes of a block of version 100: it is the end of what is unsigned. */
function toSign(header: UnsignedHeader, unsigned: Uint8Array, scheme: ChainScheme): Uint8Array {
  if (header.version !== BOUND_VERSION) return unsigned;
  const hash = bodyHash(header, unsigned, scheme);
  unsigned.set(hash, unsigned.length - hash.length);
  return boundBytes({ ...header, bound: { ...boundOf(header), bodyHash: hash } }, scheme);
}

/** The bytes of a block from its stored parts. */
export function encodeBlock(
  header: Header,
  transactions: readonly Uint8Array[],
  scheme: ChainScheme,
): Uint8Array {
  const out = scratch(scheme);
  writeUnsigned(out, header, transactions);
  out.bytes(header.signature);
  return out.take();
}

/** The block of stored parts, which are no views into its bytes. */
export const joinBlock = (
  header: Header,
  transactions: readonly Uint8Array[],
  scheme: ChainScheme,
): Block => ({ header, transactions, bytes: encodeBlock(header, transactions, scheme) });

/** All bytes before the signature. */
export function encodeUnsigned(
  header: UnsignedHeader,
  transactions: readonly Uint8Array[],
  scheme: ChainScheme,
): Uint8Array {
  const out = scratch(scheme);
  writeUnsigned(out, header, transactions);
  return out.take();
}

function writeUnsigned(
  out: Writer,
  header: UnsignedHeader,
  transactions: readonly Uint8Array[],
): void {
  writeHeaderStart(out, header);
  const lengthAt = out.position;
  out.i32(0);
  if (header.version === GENESIS_VERSION) out.u8(transactions.length);
  else out.i32(transactions.length);
  for (const bytes of transactions) {
    out.i32(bytes.length);
    out.bytes(bytes);
  }
  out.patchI32(lengthAt, out.position - lengthAt - 4);
  writeTail(out, header);
}

/**
 * Throws CodecError. The parts are views; a caller that keeps one longer than `bytes` copies it.
 */
export function decodeBlock(bytes: Uint8Array, scheme: ChainScheme): Block {
  const src = new Reader(bytes, scheme);
  const head = readHeaderStart(src);
  const length = src.i32();
  const start = src.position;
  if (length < 0 || length > src.remaining) throw wrong(`${length} bytes do not fit`);
  const transactions = readTransactions(src, head.version === GENESIS_VERSION);
  if (src.position - start !== length) throw wrong(`their length is not ${length}`);
  const header: Header = { ...head, ...readTail(src, head.version) };
  src.finish();
  return { header, transactions, bytes };
}

function readTransactions(src: Reader, small: boolean): Uint8Array[] {
  const count = small ? src.u8() : src.i32();
  const max = small ? GENESIS_TRANSACTIONS_MAX : TRANSACTIONS_MAX;
  if (count < 0 || count > max) throw wrong(`${count} are more than ${max}`);
  const transactions: Uint8Array[] = [];
  for (let i = 0; i < count; i++) transactions.push(readTxBytes(src, src.i32()));
  return transactions;
}

const wrong = (why: string): CodecError => new CodecError('transactions', why);

/** Settings of the network and active features that limit a block (blocks.md#limits-of-a-block). */
export interface BlockLimits {
  /** Most bytes of all transactions together: `miner.max-block-size-in-bytes`. */
  readonly transactionBytesMax: number;
  /**
   * Most transactions; undefined once feature 3 is active and blocks are limited by bytes alone.
   */
  readonly transactionsMax: number | undefined;
}

export function limitsOf(
  transactionBytesMax: number,
  isActive: (feature: number) => boolean,
): BlockLimits {
  const counted = isActive(2) ? 6000 : 127;
  return { transactionBytesMax, transactionsMax: isActive(3) ? undefined : counted };
}

/**
 * Runs of scripts in a block: one for each transaction of an account with a script, and one for each
 * asset with a script that a transaction touches. Those of orders count where feature 1000 is
 * active.
 */
export const SCRIPT_RUNS_MAX = 100;

/** Units that all runs of scripts in a block may consume, those of orders included (scripts.md#metering). */
export const BLOCK_SCRIPT_UNITS_MAX = 12_500_000;

/** Throws ApiError. */
export function checkVersion(header: Pick<Header, 'version'>, version: BlockVersion): void {
  if (header.version === version) return;
  throw apiError('Invalid', `Expected block version ${version} for any block, except Genesis`);
}

/** The rules for a block above height 1 that depend on its bytes only. Throws ApiError. */
export function checkLimits(
  block: Pick<Block, 'header' | 'transactions'>,
  limits: BlockLimits,
  version: BlockVersion = BLOCK_VERSION,
): void {
  checkVersion(block.header, version);
  let total = 0;
  for (const bytes of block.transactions) total += bytes.length;
  const { transactionBytesMax, transactionsMax } = limits;
  if (total > transactionBytesMax) {
    throw apiError('Invalid', `Limit of txs was reached: ${total} > ${transactionBytesMax} bytes`);
  }
  const count = block.transactions.length;
  if (transactionsMax !== undefined && count > transactionsMax) {
    throw apiError('Invalid', `Limit of txs was reached: ${count} > ${transactionsMax}`);
  }
}

/** Above the longest header of both families, with its votes, its claims and its justification. */
const HEADER_BYTES_MAX = 2048 + JUSTIFICATION_BYTES_MAX;

/**
 * The most bytes of a block within the limits; a longer one is refused before it is read. Every
 * transaction takes four bytes of length, and none is shorter than 32 bytes.
 */
export function blockBytesMax(transactionBytesMax: number): number {
  return transactionBytesMax + Math.ceil(transactionBytesMax / 32) * 4 + HEADER_BYTES_MAX;
}
