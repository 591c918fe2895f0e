/**
 * Output of a container as the engine sends it: frames of
 *
 *     stream 1 (1 stdout, 2 stderr) | 0 0 0 | length 4, big-endian | bytes
 *
 * which may be cut anywhere into pieces.
 */
import { EngineAway } from './engine-client.ts';

const HEADER_BYTES = 8;
const STDERR = 2;

export interface Output {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** There was more than the limit. */
  readonly isCut: boolean;
}

/** The output is longer than even the part that is read and dropped. */
export class EndlessOutput extends Error {
  override name = 'EndlessOutput';
}

/**
 * Keeps the first `keptMax` bytes of both streams together and drops the rest. Throws EndlessOutput
 * after `readMax` bytes, and EngineAway where the last frame is not whole.
 */
export async function readOutput(
  pieces: AsyncIterable<Uint8Array>,
  keptMax: number,
  readMax: number,
): Promise<Output> {
  const [stdout, stderr] = [new Kept(), new Kept()];
  let [keptBytes, readBytes, dropped] = [0, 0, 0];
  const header = Buffer.alloc(HEADER_BYTES);
  let headerBytes = 0;
  let left = 0;
  for await (let piece of pieces) {
    readBytes += piece.length;
    if (readBytes > readMax) throw new EndlessOutput(`more than ${readMax} bytes of output`);
    while (piece.length > 0) {
      if (left === 0) {
        const taken = piece.subarray(0, HEADER_BYTES - headerBytes);
        header.set(taken, headerBytes);
        headerBytes += taken.length;
        piece = piece.subarray(taken.length);
        if (headerBytes < HEADER_BYTES) continue;
        headerBytes = 0;
        left = header.readUInt32BE(4);
        continue;
      }
      const bytes = piece.subarray(0, left);
      left -= bytes.length;
      piece = piece.subarray(bytes.length);
      const part = bytes.subarray(0, keptMax - keptBytes);
      keptBytes += part.length;
      dropped += bytes.length - part.length;
      (header[0] === STDERR ? stderr : stdout).add(part);
    }
  }
  // The engine marks the end of the output in no other way than by closing the connection.
  if (headerBytes > 0 || left > 0) throw new EngineAway('the output of a container is cut off');
  return { stdout: stdout.bytes, stderr: stderr.bytes, isCut: dropped > 0 };
}

/** Bytes in one memory that grows, since a frame may hold a single one. */
class Kept {
  private memory = Buffer.alloc(0);
  private length = 0;

  add(part: Uint8Array): void {
    const needed = this.length + part.length;
    if (needed > this.memory.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.memory.length));
      this.memory.copy(grown, 0, 0, this.length);
      this.memory = grown;
    }
    this.memory.set(part, this.length);
    this.length = needed;
  }

  get bytes(): Uint8Array {
    return this.memory.subarray(0, this.length);
  }
}
