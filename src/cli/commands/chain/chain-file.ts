/**
 * A chain as one file, for `chain export` and `chain import`.
 *
 *   "platform-node chain 1\n"   kind of file
 *   b64 genesis id              identifies the network
 *   i4 height of the first block
 *   blocks                      each i4 length, bytes
 */

import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { equal } from '../../../base/bytes.ts';
import { BLOCK_ID_BYTES } from '../../../base/sizes.ts';
import { type Block, decodeBlock } from '../../../block/block.ts';
import type { ChainScheme } from '../../../codec/codec.ts';
import { CliError } from '../../terminal/exit.ts';

const MAGIC = Buffer.from('platform-node chain 1\n');
const HEAD_BYTES = MAGIC.length + BLOCK_ID_BYTES + 4;
const READ_BYTES = 1024 * 1024;
const BLOCK_BYTES_MAX = 256 * 1024 * 1024;

export async function writeChainFile(
  path: string,
  genesisId: Uint8Array,
  from: number,
  blocks: Iterable<Block>,
): Promise<void> {
  const out = createWriteStream(path);
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (!out.write(bytes)) await once(out, 'drain');
  };
  await write(MAGIC);
  await write(genesisId);
  await write(int32(from));
  for (const { bytes } of blocks) {
    await write(int32(bytes.length));
    await write(bytes);
  }
  out.end();
  await once(out, 'close');
}

export interface ChainFile {
  readonly genesisId: Uint8Array;
  /** Height of the first block. */
  readonly from: number;
  readonly blocks: AsyncIterable<Block>;
}

/** Throws CliError where the file is something else or ends in the middle of a block. */
export async function readChainFile(path: string, scheme: ChainScheme): Promise<ChainFile> {
  const input =
    path === '-' ? process.stdin : createReadStream(path, { highWaterMark: READ_BYTES });
  const pieces = input[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);

  /** The next `count` bytes; undefined at the end of the file. */
  async function take(count: number): Promise<Buffer | undefined> {
    const parts = [rest];
    let have = rest.length;
    while (have < count) {
      const { value, done } = await pieces.next();
      if (done) {
        if (have === 0) return undefined;
        throw new CliError(`'${path}' ends in the middle of a block`);
      }
      parts.push(value as Buffer);
      have += (value as Buffer).length;
    }
    const whole = parts.length === 1 ? rest : Buffer.concat(parts, have);
    rest = whole.subarray(count);
    return whole.subarray(0, count);
  }

  const head = await take(HEAD_BYTES);
  if (head === undefined || !equal(head.subarray(0, MAGIC.length), MAGIC)) {
    throw new CliError(`'${path}' is no exported chain`);
  }
  async function* blocks(): AsyncGenerator<Block> {
    for (;;) {
      const length = (await take(4))?.readInt32BE(0);
      if (length === undefined) return;
      if (length <= 0 || length > BLOCK_BYTES_MAX) {
        throw new CliError(`'${path}' has a block of ${length} bytes`);
      }
      const bytes = await take(length);
      if (bytes === undefined) throw new CliError(`'${path}' ends in the middle of a block`);
      yield decodeBlock(bytes, scheme);
    }
  }
  return {
    genesisId: head.subarray(MAGIC.length, MAGIC.length + BLOCK_ID_BYTES),
    from: head.readInt32BE(MAGIC.length + BLOCK_ID_BYTES),
    blocks: blocks(),
  };
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
