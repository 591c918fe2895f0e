/**
 * The content of a disk after a power failure, rebuilt from the record that shim.c made of a run.
 *
 * Synchronised data are there. Of the other writes there may be nothing, everything, some in any
 * order, or some of their sectors. Of the renames only the first few are there, since file systems
 * keep those in order.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Dice } from '../../sim/random.ts';

const SECTOR_BYTES = 512;
const HEAD_BYTES = 40;
/** The file with which the process says what it has promised; not on the disk. */
export const PROMISES = 'promises';

const KIND = {
  write: 1,
  truncate: 2,
  syncBegin: 3,
  syncEnd: 4,
  create: 5,
  rename: 6,
  remove: 7,
  mkdir: 8,
} as const;

export interface Step {
  readonly kind: number;
  readonly path: string;
  readonly inode: string;
  readonly offset: number;
  readonly sync: string;
  readonly data: Buffer;
}

interface Change {
  readonly number: number;
  readonly step: Step;
  /** What a renamed name stood for. */
  readonly moved?: string | undefined;
}

interface File {
  bytes: Buffer;
  size: number;
  pending: Change[];
}

export function readSteps(log: Buffer): Step[] {
  const steps: Step[] = [];
  for (let at = 0; at + HEAD_BYTES <= log.length; ) {
    const pathEnd = at + HEAD_BYTES + log.readUInt32LE(at + 4);
    const end = pathEnd + log.readUInt32LE(at + 8);
    steps.push({
      kind: log[at]!,
      path: log.toString('utf8', at + HEAD_BYTES, pathEnd),
      inode: `${log.readBigUInt64LE(at + 16)}`,
      offset: Number(log.readBigUInt64LE(at + 24)),
      sync: `${log.readBigUInt64LE(at + 32)}`,
      data: log.subarray(pathEnd, end),
    });
    at = end;
  }
  return steps;
}

export class Disk {
  readonly promised: string[] = [];
  readonly #root: string;
  readonly #files = new Map<string, File>();
  /** Path → inode, or FOLDER, as far as that is durable. */
  readonly #names = new Map<string, string>();
  #pendingNames: Change[] = [];
  /** The names as the process sees them. */
  readonly #seen = new Map<string, string>();
  readonly #begun = new Map<string, number>();
  #steps = 0;

  /** Whatever is below `root` now is there for good. */
  constructor(root: string) {
    this.#root = root;
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isDirectory()) this.#names.set(path, FOLDER);
      if (!entry.isFile()) continue;
      const { ino, size } = statSync(path);
      this.#names.set(path, `${ino}`);
      this.#seen.set(path, `${ino}`);
      this.#files.set(`${ino}`, { bytes: readFileSync(path), size, pending: [] });
    }
  }

  take(step: Step): void {
    const number = this.#steps++;
    const { kind, inode, path, sync } = step;
    if (path === join(this.#root, PROMISES)) {
      if (kind === KIND.write) this.promised.push(...step.data.toString().trim().split('\n'));
      return;
    }
    switch (kind) {
      case KIND.create:
        this.#files.set(inode, { bytes: Buffer.alloc(0), size: 0, pending: [] });
        this.#changeName(number, step);
        break;
      case KIND.write:
      case KIND.truncate:
        this.#fileOf(inode).pending.push({ number, step });
        break;
      case KIND.syncBegin:
        this.#begun.set(sync, number);
        break;
      case KIND.syncEnd:
        this.#synchronised(step);
        break;
      default:
        this.#changeName(number, step);
    }
  }

  #changeName(number: number, step: Step): void {
    const change = { number, step, moved: this.#seen.get(step.path) };
    this.#pendingNames.push(change);
    applyName(this.#seen, change);
  }

  #fileOf(inode: string): File {
    let file = this.#files.get(inode);
    if (file === undefined) {
      file = { bytes: Buffer.alloc(0), size: 0, pending: [] };
      this.#files.set(inode, file);
    }
    return file;
  }

  #synchronised({ sync, inode, path }: Step): void {
    const before = this.#begun.get(sync);
    const isCovered = ({ number, step }: Change): boolean =>
      before === undefined ? step.sync === sync : number < before;
    const file = this.#files.get(inode);
    if (file !== undefined) {
      for (const change of file.pending) if (isCovered(change)) apply(file, change.step);
      file.pending = file.pending.filter((change) => !isCovered(change));
    }
    const isHere = (change: Change): boolean =>
      isCovered(change) && dirname(targetOf(change.step)) === path;
    for (const change of this.#pendingNames) if (isHere(change)) applyName(this.#names, change);
    this.#pendingNames = this.#pendingNames.filter((change) => !isHere(change));
  }

  /** Writes what a machine that starts again could find. */
  writeTo(folder: string, dice: Dice): void {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const names = new Map(this.#names);
    const kept = dice.below(this.#pendingNames.length + 1);
    for (const change of this.#pendingNames.slice(0, kept)) applyName(names, change);
    for (const [path, inode] of [...names].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (!hasFolder(names, path, this.#root)) continue;
      const to = join(folder, relative(this.#root, path));
      if (inode === FOLDER) mkdirSync(to);
      else writeFileSync(to, this.#contentOf(this.#fileOf(inode), dice));
    }
  }

  #contentOf({ bytes, size, pending }: File, dice: Dice): Buffer {
    const image: File = { bytes: Buffer.from(bytes), size, pending: [] };
    const manner = dice.below(4);
    for (const { step } of pending) {
      if (manner === 0) break;
      if (manner === 1) apply(image, step);
      else if (manner === 2 && dice.below(2) === 0) apply(image, step);
      else if (manner === 3) applySectors(image, step, dice);
    }
    return image.bytes.subarray(0, image.size);
  }
}

const FOLDER = 'folder';

const targetOf = (step: Step): string =>
  step.kind === KIND.rename ? step.data.toString() : step.path;

function applyName(names: Map<string, string>, { step, moved }: Change): void {
  const { kind, path, inode } = step;
  if (kind === KIND.create) names.set(path, inode);
  else if (kind === KIND.mkdir) names.set(path, FOLDER);
  else names.delete(path);
  if (kind === KIND.rename && moved !== undefined) names.set(targetOf(step), moved);
}

function hasFolder(names: ReadonlyMap<string, string>, path: string, root: string): boolean {
  const above = dirname(path);
  return above === root || (names.get(above) === FOLDER && hasFolder(names, above, root));
}

function apply(file: File, step: Step): void {
  if (step.kind === KIND.truncate) {
    if (step.offset < file.size) file.bytes.fill(0, step.offset, file.size);
    grow(file, step.offset);
    file.size = step.offset;
  } else {
    put(file, step.offset, step.data);
  }
}

function applySectors(file: File, step: Step, dice: Dice): void {
  if (step.kind === KIND.truncate) {
    if (dice.below(2) === 0) apply(file, step);
    return;
  }
  const { data, offset } = step;
  for (let at = 0; at < data.length; ) {
    const end = Math.min(data.length, at + SECTOR_BYTES - ((offset + at) % SECTOR_BYTES));
    if (dice.below(2) === 0) put(file, offset + at, data.subarray(at, end));
    at = end;
  }
}

function put(file: File, offset: number, data: Uint8Array): void {
  grow(file, offset + data.length);
  file.bytes.set(data, offset);
  file.size = Math.max(file.size, offset + data.length);
}

function grow(file: File, size: number): void {
  if (size <= file.bytes.length) return;
  const grown = Buffer.alloc(Math.max(size, 2 * file.bytes.length));
  grown.set(file.bytes);
  file.bytes = grown;
}
