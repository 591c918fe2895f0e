/**
 * Writes a tar archive piece by piece, in the format of POSIX.1-2001 (pax): a header of 512 bytes
 * before each file, and the content filled up to a multiple of 512. Owner and times are left out,
 * so that equal files make equal archives.
 *
 * Invariant: at most one piece of a file is in memory.
 */
import { createReadStream } from 'node:fs';
import { CliError } from '../../terminal/exit.ts';

export type TarEntry = { readonly path: string; readonly mode: number } & (
  | { readonly kind: 'file'; readonly source: string; readonly size: number }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder' }
);

const BLOCK = 512;
const NAME_BYTES_MAX = 100;
const END = Buffer.alloc(2 * BLOCK);

/** Throws CliError where a file has another size than its entry says. */
export async function* tar(entries: Iterable<TarEntry>): AsyncGenerator<Uint8Array> {
  for (const entry of entries) {
    yield* headerOf(entry);
    if (entry.kind === 'link' || entry.kind === 'folder') continue;
    if (entry.kind === 'text') yield Buffer.from(entry.text);
    else yield* contentOf(entry);
    const size = sizeOf(entry);
    if (size % BLOCK !== 0) yield Buffer.alloc(BLOCK - (size % BLOCK));
  }
  yield END;
}

async function* contentOf({ source, size }: { source: string; size: number }) {
  let read = 0;
  for await (const piece of createReadStream(source)) {
    const bytes = piece as Buffer;
    read += bytes.length;
    if (read > size) break;
    yield bytes;
  }
  if (read !== size) throw new CliError(`${source} has changed meanwhile; try again`);
}

const sizeOf = (entry: TarEntry): number =>
  entry.kind === 'file' ? entry.size : entry.kind === 'text' ? Buffer.byteLength(entry.text) : 0;

const TYPES: Readonly<Record<TarEntry['kind'], string>> = {
  file: '0',
  text: '0',
  link: '2',
  folder: '5',
};

function* headerOf(entry: TarEntry): Generator<Buffer> {
  const { path, mode } = entry;
  const link = entry.kind === 'link' ? entry.target : '';
  const records = [
    ...(Buffer.byteLength(path) > NAME_BYTES_MAX ? [paxRecord('path', path)] : []),
    ...(Buffer.byteLength(link) > NAME_BYTES_MAX ? [paxRecord('linkpath', link)] : []),
  ].join('');
  if (records !== '') {
    const size = Buffer.byteLength(records);
    yield block({ path: 'pax', mode, size, type: 'x', link: '' });
    yield Buffer.from(records);
    if (size % BLOCK !== 0) yield Buffer.alloc(BLOCK - (size % BLOCK));
  }
  yield block({ path, mode, size: sizeOf(entry), type: TYPES[entry.kind], link });
}

/** `<length> <name>=<value>\n`, where the length counts its own digits. */
function paxRecord(name: string, value: string): string {
  const rest = ` ${name}=${value}\n`;
  let length = Buffer.byteLength(rest);
  while (length !== Buffer.byteLength(rest) + String(length).length) {
    length = Buffer.byteLength(rest) + String(length).length;
  }
  return `${length}${rest}`;
}

interface Header {
  readonly path: string;
  readonly mode: number;
  readonly size: number;
  readonly type: string;
  readonly link: string;
}

/**
 *   name 100 | mode 8 | uid 8 | gid 8 | size 12 | mtime 12 | checksum 8 | type 1 | link 100
 *   | "ustar" 6 | version 2 | …
 *
 * Numbers are octal texts. The checksum is the sum of all bytes, with spaces in its own place.
 */
function block({ path, mode, size, type, link }: Header): Buffer {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');
  Buffer.from(path).copy(header, 0, 0, NAME_BYTES_MAX);
  header.write(octal(mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(size, 11), 124);
  header.write(octal(0, 11), 136);
  header.write(' '.repeat(8), 148);
  header.write(type, 156);
  Buffer.from(link).copy(header, 157, 0, NAME_BYTES_MAX);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\u0000 `, 148);
  return header;
}
