/**
 * Small files that are replaced atomically: keystores, known peers, configuration.
 *
 * Invariants: a reader sees the old content or the new, never a part; a new secret file can be read
 * by its owner alone, from its first byte on; a file that is replaced keeps owner, group and mode,
 * but for the rights of the world to a secret; a new file that root makes belongs to the owner of its
 * folder; a link stays, and what it names is replaced; after `replace` returns, the content survives a
 * crash.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Files } from '../base/ports/files.ts';
import { ANY, leaveOpen, NOT_THE_WORLD, statIfAny, takeAfter } from './file-owner.ts';
import { awaitFolderLock, type FolderLock } from './folder-lock.ts';
import { makeFolder, syncFolder } from './folders.ts';

const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const PUBLIC = 0o644;

interface ReplaceOptions {
  readonly secret?: boolean;
  /** A copy of this file, whose owner, group and mode it gets. */
  readonly copyOf?: string;
}

export const files: Files & {
  replace(path: string, bytes: Uint8Array, options?: ReplaceOptions): void;
  /** The names in a folder, sorted; empty if the folder does not exist. */
  list(path: string): string[];
  isDirectory(path: string): boolean;
  exists(path: string): boolean;
  remove(path: string): void;
  lock(path: string, kind: 'file' | 'directory'): Promise<FolderLock>;
} = {
  read(path) {
    try {
      return readFileSync(path);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw cause;
    }
  },

  replace(name, bytes, options: ReplaceOptions = {}) {
    const path = placeOf(name);
    const folder = dirname(path);
    const secret = options.secret === true;
    makeFolder(folder, secret ? OWNER_ONLY_FOLDER : undefined);
    const old = statIfAny(options.copyOf ?? path);
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    try {
      const file = openSync(temporary, 'wx', secret || old !== undefined ? OWNER_ONLY : PUBLIC);
      try {
        if (old === undefined) leaveOpen(file, temporary);
        else takeAfter(file, old, secret ? NOT_THE_WORLD : ANY);
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

  /** Of secrets; keeps out who locks too, also in another container. The file need not be there yet. */
  async lock(path, kind) {
    const folder = kind === 'directory' ? path : dirname(placeOf(path));
    makeFolder(folder, OWNER_ONLY_FOLDER);
    return awaitFolderLock(folder, SECRETS).catch((cause: NodeJS.ErrnoException) => {
      // FAT on a memory stick and some network file systems have no sockets, and no other lock that
      // would end with its process. People write keys there, one at a time.
      if (NO_SOCKETS.has(cause.code ?? '')) return { release: () => undefined };
      throw cause;
    });
  },
};

/** Such a folder may have another lock: that of a store. */
const SECRETS = 'keystore-';
const NO_SOCKETS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP']);

/** The file itself, where the name is a link to it. Throws where others may have made a link on the way. */
export function placeOf(name: string): string {
  const links = linksFrom(name);
  const last = links.at(-1);
  if (last === undefined) return name;
  const path = existsSync(name) ? realpathSync(name) : last.to;
  // Else who may write in the folder of a file would choose what root overwrites.
  const trusted = [process.getuid?.(), 0, statIfAny(path)?.uid];
  const foreign = links.find(({ uid }) => !trusted.includes(uid));
  if (foreign === undefined) return path;
  throw new Error(`'${foreign.at}' is a link of another user than the file that it names`);
}

/** As many as the system follows. */
const LINKS_MAX = 40;

interface Link {
  readonly at: string;
  readonly uid: number;
  /** What it names. */
  readonly to: string;
}

/** Each link on the way to the file that a name stands for. */
function linksFrom(name: string): readonly Link[] {
  const links: Link[] = [];
  let at = name;
  while (links.length < LINKS_MAX) {
    const link = lstatSync(at, { throwIfNoEntry: false });
    if (link?.isSymbolicLink() !== true) return links;
    const to = resolve(realpathSync(dirname(at)), readlinkSync(at));
    links.push({ at, uid: link.uid, to });
    at = to;
  }
  throw new Error(`'${name}' is a link to itself`);
}
