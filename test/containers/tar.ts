/** A tar archive (ustar) as a stream, for what is sent to the engine. */
import { createReadStream, statSync } from 'node:fs';

/** A file with these bytes, a copy of a file of this machine, or a symbolic link. */
export type TarFile =
  | { readonly bytes: string | Uint8Array; readonly mode?: number }
  | { readonly copyOf: string; readonly mode?: number }
  | { readonly linkTo: string };

const BLOCK = 512;

/** Paths are relative; folders have at most 155 bytes, names 100. */
export async function* tar(files: Readonly<Record<string, TarFile>>): AsyncIterable<Uint8Array> {
  for (const [path, file] of Object.entries(files)) yield* entry(path, file);
  yield new Uint8Array(2 * BLOCK);
}

async function* entry(path: string, file: TarFile): AsyncIterable<Uint8Array> {
  if ('linkTo' in file) {
    yield header(path, 0, 0o777, file.linkTo);
    return;
  }
  if ('copyOf' in file) {
    const { size, mode } = statSync(file.copyOf);
    yield header(path, size, file.mode ?? mode & 0o777);
    yield* createReadStream(file.copyOf, { highWaterMark: 1024 * 1024 });
    yield padding(size);
    return;
  }
  const bytes = Buffer.from(file.bytes);
  yield header(path, bytes.length, file.mode ?? 0o644);
  yield bytes;
  yield padding(bytes.length);
}

const padding = (size: number): Uint8Array => new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK);

function header(path: string, size: number, mode: number, linkTo = ''): Uint8Array {
  const block = Buffer.alloc(BLOCK);
  const [folder, name] = parts(path);
  const isTooLong = Buffer.byteLength(name) > 100 || Buffer.byteLength(folder) > 155;
  if (isTooLong || linkTo.length > 100) throw new Error(`too long: ${path}`);
  const octal = (value: number, at: number, width: number) =>
    block.write(value.toString(8).padStart(width - 1, '0'), at);
  block.write(name, 0);
  block.write(folder, 345);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  block.fill(' ', 148, 156);
  block.write(linkTo === '' ? '0' : '2', 156);
  block.write(linkTo, 157);
  block.write('ustar\0', 257);
  block.write('00', 263);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** A path that does not fit into the field of the name is divided at a slash. */
function parts(path: string): [folder: string, name: string] {
  if (Buffer.byteLength(path) <= 100) return ['', path];
  const at = path.indexOf('/', path.length - 100);
  return [path.slice(0, at), path.slice(at + 1)];
}
