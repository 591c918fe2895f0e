/**
 * An item on its way between two nodes: its header and its data in chunks. Each chunk is encrypted
 * when it is read and decrypted when it is stored, so only a few are in memory at a time.
 */
import { Misconduct } from '../../base/faults/misconduct.ts';
import type { PeerStream } from '../../base/ports/network.ts';
import { CHUNK_OVERHEAD_BYTES, type Chunk } from '../../crypto/stream-cipher.ts';
import { HEADER_BYTES_MAX, LENGTH_BYTES, MESSAGE_BYTES_MAX } from './privacy-messages.ts';

const PLAIN_BYTES = MESSAGE_BYTES_MAX - CHUNK_OVERHEAD_BYTES;

/**
 * The received item is not the requested one: the peer has sent something else, or not all of it.
 */
export class WrongData extends Misconduct {
  override name = 'WrongData';
}

/**
 * Full chunks of `total` bytes from pieces of any size; each is valid until the next is requested.
 * Throws where the pieces have fewer or more bytes.
 */
export async function* inChunks(
  pieces: AsyncIterable<Uint8Array>,
  total: number,
): AsyncGenerator<Chunk> {
  const buffer = new Uint8Array(PLAIN_BYTES);
  let filled = 0;
  let left = total;
  for await (const piece of pieces) {
    if (piece.length > left) throw new Error('more data than there should be');
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + PLAIN_BYTES - filled);
      buffer.set(part, filled);
      filled += part.length;
      at += part.length;
      left -= part.length;
      if (filled < PLAIN_BYTES || left === 0) continue;
      yield { plain: buffer, last: false };
      filled = 0;
    }
  }
  if (left > 0) throw new Error('less data than there should be');
  yield { plain: buffer.subarray(0, filled), last: true };
}

export async function* preceded(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

/**
 * The plain bytes that a peer sends. Throws WrongData where they are incomplete or not authentic.
 */
export async function* received(
  stream: PeerStream,
  open: (sealed: Uint8Array) => Chunk | undefined,
): AsyncGenerator<Uint8Array> {
  for (;;) {
    const message = await stream.receive();
    if (message === undefined) throw new WrongData('the data end too early');
    const chunk = open(message);
    if (chunk === undefined) throw new WrongData('a chunk is not genuine');
    if (chunk.plain.length === 0 && !chunk.last) throw new WrongData('a chunk is empty');
    yield chunk.plain;
    if (!chunk.last) continue;
    if ((await stream.receive()) !== undefined) throw new WrongData('there is more than the data');
    return;
  }
}

/** Reads the header; the data that follow it are read from `pieces` later. Throws WrongData. */
export async function splitHeader(
  pieces: AsyncGenerator<Uint8Array>,
): Promise<{ readonly header: Uint8Array; readonly data: AsyncIterable<Uint8Array> }> {
  let start = Buffer.alloc(0);
  for (;;) {
    const { value, done } = await pieces.next();
    if (done === true) throw new WrongData('the header is not whole');
    start = Buffer.concat([start, value]);
    if (start.length < LENGTH_BYTES) continue;
    const end = LENGTH_BYTES + start.readUInt32BE(0);
    if (end > LENGTH_BYTES + HEADER_BYTES_MAX) throw new WrongData('the header is too long');
    if (start.length < end) continue;
    return {
      header: start.subarray(LENGTH_BYTES, end),
      data: preceded(start.subarray(end), pieces),
    };
  }
}
