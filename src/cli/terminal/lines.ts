/**
 * Lines of a file or of stdin, one by one, so that memory stays bounded for any length of input.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { CliError } from './exit.ts';

const LINE_CHARACTERS_MAX = 64 * 1024 * 1024;

/** Editors of some systems begin a file with it. It is no part of a phrase, a key or a document. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF/, '');

/** `-` is stdin. Blank lines are skipped. */
export async function* readLines(source: string): AsyncGenerator<string> {
  const input = source === '-' ? process.stdin : createReadStream(source);
  let failure: Error | undefined;
  input.once('error', (error: Error) => {
    failure = error;
  });
  const lines = createInterface({ input, crlfDelay: Infinity });
  input.once('error', () => lines.close());
  let isFirst = true;
  try {
    for await (const given of lines) {
      const line = isFirst ? withoutMark(given) : given;
      isFirst = false;
      if (line.length > LINE_CHARACTERS_MAX) throw new CliError('A line of the input is too long');
      if (line.trim() !== '') yield line;
    }
  } catch (cause) {
    if (failure === undefined) throw cause;
  }
  if (failure !== undefined) throw new CliError(`Cannot read '${source}': ${failure.message}`);
}

/** The whole input, for a single document. Throws CliError where it has more bytes. */
export const readAll = async (source: string, bytesMax?: number): Promise<string> =>
  (await readBytes(source, bytesMax)).toString('utf8');

export async function readBytes(
  source: string,
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  let length = 0;
  const chunks: Buffer[] = [];
  const input = source === '-' ? process.stdin : createReadStream(source);
  try {
    for await (const chunk of input) {
      const bytes = Buffer.from(chunk as Uint8Array);
      length += bytes.length;
      if (length > bytesMax) throw new CliError(`'${source}' has more than ${bytesMax} bytes`);
      chunks.push(bytes);
    }
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw new CliError(`Cannot read '${source}': ${(cause as Error).message}`);
  }
  return Buffer.concat(chunks);
}
