/**
 * A file of any size that a command writes. It appears whole and on disk, or what was there before
 * stays. Standard output, a pipe and a device get a stream.
 */
import { createWriteStream, renameSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ANY, leave, leaveOpen, statIfAny, takeAfter } from '../../../adapters/file-owner.ts';
import { placeOf } from '../../../adapters/files.ts';
import { syncFolder } from '../../../adapters/folders.ts';
import { CliError } from '../../terminal/exit.ts';
import { temporaryFolder } from '../../terminal/temporary-folder.ts';

const PORTION_BYTES = 1024 * 1024;
const OWNER_ONLY = 0o600;
/** The folder takes no new file, or the file cannot be replaced, as where it is mounted by itself. */
const NO_REPLACING: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EBUSY', 'EROFS']);
const STREAM = "; it takes the place of an older one at the end, and '-' writes to stdout instead";
/** But for what the umask takes away. */
const ANYBODY = 0o666;

/** '-' is stdout. Throws CliError where the system refuses to write. */
export async function writeLargeFile(path: string, parts: Iterable<Uint8Array>): Promise<void> {
  const portions = portionsOf(parts);
  try {
    const old = path === '-' ? undefined : statIfAny(path);
    if (path === '-') await pipeline(portions, process.stdout, { end: false });
    else if (old === undefined || old.isFile()) await replace(path, old, portions);
    else await pipeline(portions, createWriteStream(path));
  } catch (cause) {
    const { syscall, code = '', message } = cause as NodeJS.ErrnoException;
    if (syscall === undefined) throw cause;
    const fix = NO_REPLACING.has(code) ? STREAM : '';
    throw new CliError(`'${path}' cannot be written: ${message}${fix}`);
  }
}

async function replace(
  name: string,
  old: Stats | undefined,
  portions: Iterable<Uint8Array>,
): Promise<void> {
  const path = placeOf(name);
  // Beside it, since a file takes the place of another on the same disk only.
  const part = temporaryFolder(`${path}.part-`);
  try {
    leave(part.path);
    const temporary = join(part.path, basename(path));
    const file = await open(temporary, 'wx', old === undefined ? ANYBODY : OWNER_ONLY);
    try {
      if (old === undefined) leaveOpen(file.fd, temporary);
      else takeAfter(file.fd, old, ANY);
      for (const portion of portions) await file.writeFile(portion);
      await file.sync();
    } finally {
      await file.close();
    }
    renameSync(temporary, path);
    syncFolder(dirname(path));
  } finally {
    part.remove();
  }
}

/** A block of a few hundred bytes is not worth a call of the system. */
function* portionsOf(parts: Iterable<Uint8Array>): Generator<Buffer> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for (const part of parts) {
    waiting.push(part);
    length += part.length;
    if (length < PORTION_BYTES) continue;
    yield Buffer.concat(waiting, length);
    [waiting, length] = [[], 0];
  }
  if (length > 0) yield Buffer.concat(waiting, length);
}
