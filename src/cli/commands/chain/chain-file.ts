/**
 * A chain as one file, for `chain export` and `chain import` (node.md#chain-files).
 *
 *   "platform-node chain 2\n"   kind of file, and its version
 *   b64 genesis id              identifies the network
 *   i4 height of the first block
 *   blocks                      each i4 length, bytes
 *   i4 0                        the end mark; version 1 ends before it
 *   i4 height of the last block
 *   b32 SHA-256 of all bytes before it
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { equal } from '../../../base/bytes.ts';
import { BLOCK_ID_BYTES } from '../../../base/sizes.ts';
import { type Block, decodeBlock } from '../../../block/block.ts';
import { type ChainScheme, CodecError } from '../../../codec/codec.ts';
import { CliError } from '../../terminal/exit.ts';
import { writeLargeFile } from './large-file.ts';

export type ChainFileVersion = 1 | 2;

const VERSIONS: readonly ChainFileVersion[] = [1, 2];
const magic = (version: ChainFileVersion): Buffer =>
  Buffer.from(`platform-node chain ${version}\n`);
const MAGIC_BYTES = magic(1).length;
const HEAD_BYTES = MAGIC_BYTES + BLOCK_ID_BYTES + 4;
const READ_BYTES = 1024 * 1024;
const BLOCK_BYTES_MAX = 256 * 1024 * 1024;
const CHECKSUM = 'sha256';
const CHECKSUM_BYTES = 32;
const END_MARK = 0;

/**
 * Appears whole or not at all; '-' is stdout. Returns the height of the last block, or the one below
 * `from` where there is none.
 */
export async function writeChainFile(
  path: string,
  genesisId: Uint8Array,
  from: number,
  blocks: Iterable<Block>,
  version: ChainFileVersion = 2,
): Promise<number> {
  let last = from - 1;
  function* parts(): Generator<Uint8Array> {
    yield* [magic(version), genesisId, int32(from)];
    for (const { bytes } of blocks) {
      yield* [int32(bytes.length), bytes];
      last++;
    }
    if (version !== 1) yield* [int32(END_MARK), int32(last)];
  }
  await writeLargeFile(path, version === 1 ? parts() : withChecksum(parts()));
  return last;
}

function* withChecksum(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  const hash = createHash(CHECKSUM);
  for (const part of parts) {
    hash.update(part);
    yield part;
  }
  yield hash.digest();
}

export interface ChainFile {
  readonly genesisId: Uint8Array;
  /** Height of the first block. */
  readonly from: number;
  /** False for version 1, where a cut between two blocks looks like the end. */
  readonly hasEnd: boolean;
  /** Throws CliError at the first byte that is wrong, and where the file is cut off. */
  readonly blocks: AsyncIterable<Block>;
  /** For who does not read the blocks; their end, or a break, closes the file too. */
  close(): void;
}

/** '-' is stdin. Throws CliError where the file is something else. */
export async function readChainFile(path: string, scheme: ChainScheme): Promise<ChainFile> {
  const source = new Source(path);
  try {
    const head = await source.take(HEAD_BYTES, NO_CHAIN);
    const version = head && versionOf(head);
    if (head === undefined || version === undefined) throw source.error(NO_CHAIN);
    const from = head.readInt32BE(MAGIC_BYTES + BLOCK_ID_BYTES);
    const end = version === 1 ? undefined : createHash(CHECKSUM).update(head);
    return {
      genesisId: head.subarray(MAGIC_BYTES, MAGIC_BYTES + BLOCK_ID_BYTES),
      from,
      hasEnd: end !== undefined,
      blocks: blocksIn(source, from, scheme, end),
      close: () => source.close(),
    };
  } catch (cause) {
    source.close();
    throw cause;
  }
}

const versionOf = (head: Buffer): ChainFileVersion | undefined =>
  VERSIONS.find((version) => equal(head.subarray(0, MAGIC_BYTES), magic(version)));

/** `checksum`: of the bytes so far; undefined where the file has no end mark. */
async function* blocksIn(
  source: Source,
  from: number,
  scheme: ChainScheme,
  checksum: Hash | undefined,
): AsyncGenerator<Block> {
  try {
    for (let height = from; ; height++) {
      const head = await source.take(4);
      if (head === undefined && checksum === undefined) return;
      if (head === undefined) {
        throw source.error(`is cut off: it has no end mark after block ${height - 1}`);
      }
      checksum?.update(head);
      const length = head.readInt32BE(0);
      if (length === END_MARK && checksum !== undefined) {
        return await requireEnd(source, height - 1, checksum);
      }
      if (length <= 0 || length > BLOCK_BYTES_MAX) {
        throw source.error(`says that block ${height} has ${length} bytes`);
      }
      const bytes = await source.take(length);
      if (bytes === undefined) throw source.error(IN_A_BLOCK);
      checksum?.update(bytes);
      yield decoded(source, bytes, height, scheme);
    }
  } finally {
    source.close();
  }
}

function decoded(source: Source, bytes: Buffer, height: number, scheme: ChainScheme): Block {
  try {
    return decodeBlock(bytes, scheme);
  } catch (cause) {
    if (!(cause instanceof CodecError)) throw cause;
    throw source.error(`has bytes in place of block ${height} that are no block: ${cause.message}`);
  }
}

async function requireEnd(source: Source, last: number, checksum: Hash): Promise<void> {
  const height = await source.take(4, IN_THE_END);
  if (height === undefined) throw source.error(IN_THE_END);
  const expected = checksum.update(height).digest();
  const found = await source.take(CHECKSUM_BYTES, IN_THE_END);
  if (found === undefined) throw source.error(IN_THE_END);
  const named = height.readInt32BE(0);
  if (named !== last) {
    throw source.error(`has blocks up to ${last}, but its end mark names ${named}`);
  }
  if (!equal(found, expected)) throw source.error('is damaged: its checksum is wrong');
  if ((await source.take(1)) !== undefined) throw source.error('goes on after its end mark');
}

const NO_CHAIN = 'is no exported chain';
const IN_A_BLOCK = 'ends in the middle of a block';
const IN_THE_END = 'ends in the middle of its end mark';

/** The bytes of a file, or of stdin. */
class Source {
  private readonly path: string;
  private readonly input: Readable;
  private readonly pieces: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.path = path;
    this.input =
      path === '-' ? process.stdin : createReadStream(path, { highWaterMark: READ_BYTES });
    this.pieces = this.input[Symbol.asyncIterator]();
  }

  error(what: string): CliError {
    return new CliError(`'${this.path}' ${what}`);
  }

  /** The next `count` bytes; undefined at the end of the file. */
  async take(count: number, within = IN_A_BLOCK): Promise<Buffer | undefined> {
    const parts = [this.rest];
    let have = this.rest.length;
    while (have < count) {
      const { value, done } = await this.pieces.next();
      if (done === true) {
        if (have === 0) return undefined;
        throw this.error(within);
      }
      parts.push(value);
      have += value.length;
    }
    const whole = parts.length === 1 ? this.rest : Buffer.concat(parts, have);
    this.rest = whole.subarray(count);
    return whole.subarray(0, count);
  }

  /** Whoever writes into a pipe learns at once that nobody reads on. */
  close(): void {
    this.input.destroy();
  }
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
