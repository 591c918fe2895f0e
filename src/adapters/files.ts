/**
 * Small files that are replaced atomically: keystores, known peers, configuration.
 *
 * Invariants: a reader sees the old content or the new, never a part; only its owner can read a
 * secret file, from its first byte on; after `replace` returns, the content survives a crash.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Files } from '../base/ports.ts';
import { makeFolder, syncFolder } from './folders.ts';

const OWNER_ONLY = 0o600;
const PUBLIC = 0o644;

export const files: Files & {
  /** The names in a folder, sorted; empty if the folder does not exist. */
  list(path: string): string[];
  isDirectory(path: string): boolean;
  exists(path: string): boolean;
  remove(path: string): void;
} = {
  read(path) {
    try {
      return readFileSync(path);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw cause;
    }
  },

  replace(path, bytes, options) {
    const folder = dirname(path);
    const secret = options?.secret === true;
    makeFolder(folder, secret ? 0o700 : undefined);
    const mode = secret ? OWNER_ONLY : existsSync(path) ? statSync(path).mode & 0o777 : PUBLIC;
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    try {
      const file = openSync(temporary, 'wx', mode);
      try {
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(temporary, path);
    } catch (cause) {
      rmSync(temporary, { force: true });
      throw cause;
    }
    syncFolder(folder);
  },

  list: (path) => (existsSync(path) ? readdirSync(path).sort() : []),
  isDirectory: (path) => existsSync(path) && statSync(path).isDirectory(),
  exists: existsSync,
  remove(path) {
    rmSync(path, { force: true });
    syncFolder(dirname(path));
  },
};
