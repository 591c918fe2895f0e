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
  const kept: { readonly isError: boolean; readonly bytes: Uint8Array }[] = [];
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
      const part = bytes.slice(0, keptMax - keptBytes);
      keptBytes += part.length;
      dropped += bytes.length - part.length;
      if (part.length > 0) kept.push({ isError: header[0] === STDERR, bytes: part });
    }
  }
  // The engine marks the end of the output in no other way than by closing the connection.
  if (headerBytes > 0 || left > 0) throw new EngineAway('the output of a container is cut off');
  const of = (isError: boolean): Uint8Array =>
    Buffer.concat(kept.filter((one) => one.isError === isError).map((one) => one.bytes));
  return { stdout: of(false), stderr: of(true), isCut: dropped > 0 };
}
