/**
 * How signature checks travel to a verification thread and verdicts travel back, in one buffer that
 * is transferred and used again.
 *
 * count (u32) ‖ one verdict byte per item ‖ per item: public key, signature, message length (u32),
 * message. Numbers are little-endian; keys and signatures have the sizes of the family.
 */
import type { SignatureCheck } from '../../base/ports/verifier.ts';

/** Bytes. */
export interface CheckSizes {
  readonly publicKeySize: number;
  readonly signatureSize: number;
}

/** The data with which a verification thread is started. */
export interface VerifyThreadData extends CheckSizes {
  readonly family: string;
  readonly cachedKeys: number;
}

const COUNT_SIZE = 4;
const LENGTH_SIZE = 4;

/** Room for the fixed part of a batch. */
export const batchOverhead = (items: number): number => COUNT_SIZE + items;

/** Room that one item takes in addition to its verdict. */
export const itemSize = (sizes: CheckSizes, item: SignatureCheck): number =>
  sizes.publicKeySize + sizes.signatureSize + LENGTH_SIZE + item.message.length;

/** The caller has checked sizes and room. */
export function writeBatch(
  buffer: ArrayBuffer,
  sizes: CheckSizes,
  items: readonly SignatureCheck[],
): void {
  const bytes = new Uint8Array(buffer);
  const numbers = new DataView(buffer);
  numbers.setUint32(0, items.length, true);
  let at = batchOverhead(items.length);
  for (const { publicKey, signature, message } of items) {
    bytes.set(publicKey, at);
    at += sizes.publicKeySize;
    bytes.set(signature, at);
    at += sizes.signatureSize;
    numbers.setUint32(at, message.length, true);
    at += LENGTH_SIZE;
    bytes.set(message, at);
    at += message.length;
  }
}

/** The items as views into the buffer. */
export function readBatch(buffer: ArrayBuffer, sizes: CheckSizes): SignatureCheck[] {
  const bytes = new Uint8Array(buffer);
  const numbers = new DataView(buffer);
  const count = numbers.getUint32(0, true);
  let at = batchOverhead(count);
  const take = (size: number): Uint8Array => {
    at += size;
    return bytes.subarray(at - size, at);
  };
  return Array.from({ length: count }, () => {
    const publicKey = take(sizes.publicKeySize);
    const signature = take(sizes.signatureSize);
    const length = numbers.getUint32(at, true);
    at += LENGTH_SIZE;
    return { publicKey, signature, message: take(length) };
  });
}

/** One byte per item: 1 for a valid signature. */
export function verdictsOf(buffer: ArrayBuffer): Uint8Array {
  return new Uint8Array(buffer, COUNT_SIZE, new DataView(buffer).getUint32(0, true));
}
