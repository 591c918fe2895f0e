/**
 * Opens the file of a journal, and makes it one that takes further frames: a new file gets its
 * header, remains of a crash are removed, a damaged file is replaced by one with the records that
 * could be read, and a file of the first format by one of this format.
 *
 * Invariants: at every moment the path names a file with all records that could be read; a damaged
 * file is replaced only once a copy of it is kept. A file that cannot be replaced, as on a full
 * disk, stays in use where it takes frames.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { keepDamaged } from './damaged-copies.ts';
import { leaveOpen, NOT_THE_WORLD, statIfAny, takeAfter } from './file-owner.ts';
import { placeOf } from './files.ts';
import { makeFolder, syncFolder } from './folders.ts';
import { firstFormatIn } from './journal-first-format.ts';
import { piecesOf, recordsIn } from './journal-frames.ts';
import { HEADER_BYTES, headerIn, headerOf, newMark } from './journal-header.ts';

/** What was found on opening; nothing but zeros after an orderly end on a sound disk. */
export interface Findings {
  /** Damage to what was promised: the number of places, and their bytes. */
  readonly places: number;
  readonly bytes: number;
  /** Damaged frames of which the record could be proved all the same. */
  readonly restored: number;
  /** Remains of a write that a crash has ended; nobody was promised anything of them. */
  readonly unfinishedBytes: number;
  /** The copy of the damaged file. */
  readonly kept?: string;
  /** Why the damaged file is still in use, without a copy. */
  readonly notReplaced?: string;
}

export interface OpenedFile {
  /** Open for synchronised appends. */
  readonly file: number;
  readonly mark: Uint8Array;
  readonly records: readonly Uint8Array[];
  /** The last frame is a seal. */
  readonly isSealed: boolean;
  readonly findings: Findings;
}

const { O_APPEND, O_CREAT, O_DSYNC, O_EXCL, O_RDWR } = constants;
/**
 * A write returns once its bytes are on disk. A separate synchronisation would take a second call of
 * the thread pool for each group, and wake the main thread in between.
 */
const SYNCED_APPENDS = O_RDWR | O_CREAT | O_APPEND | O_DSYNC;
const OWNER_ONLY = 0o600;

export const temporaryOf = (path: string): string => `${path}.tmp`;

/** An empty file beside the journal, to replace it. */
export function openFresh(path: string): number {
  const file = openSync(temporaryOf(path), SYNCED_APPENDS | O_EXCL, OWNER_ONLY);
  const old = statIfAny(path);
  if (old !== undefined) takeAfter(file, old, NOT_THE_WORLD);
  return file;
}

export function openFile(path: string): OpenedFile {
  makeFolder(dirname(path));
  rmSync(temporaryOf(path), { force: true });
  const file = openSync(placeOf(path), SYNCED_APPENDS, OWNER_ONLY);
  leaveOpen(file, path);
  syncFolder(dirname(path));
  const bytes = readFileSync(file);
  const header = headerIn(bytes);
  const mark = header?.mark ?? newMark();
  const found = header === undefined ? firstFormatIn(bytes) : recordsIn(bytes, HEADER_BYTES, mark);
  const tail = header === undefined ? 0 : bytes.length - found.end;
  const findings: Findings = {
    places: found.places + (header?.damaged ?? 0),
    bytes: found.damagedBytes,
    restored: found.restored,
    unfinishedBytes: found.unfinishedBytes + tail,
  };
  const opened = { file, mark, records: found.records, isSealed: found.isSealed, findings };
  const isSound = findings.places + found.restored + found.unfinishedBytes === 0;
  if (header !== undefined && isSound) return cutTo(found.end, opened);
  let fresh: Fresh;
  try {
    fresh = freshFile(path, opened);
  } catch (cause) {
    if (header === undefined) throw cause;
    const notReplaced = (cause as Error).message;
    return cutTo(found.end, { ...opened, findings: { ...findings, notReplaced } });
  }
  renameSync(temporaryOf(path), path);
  syncFolder(dirname(path));
  closeSync(file);
  const { kept } = fresh;
  return {
    ...opened,
    file: fresh.file,
    isSealed: true,
    findings: kept === undefined ? findings : { ...findings, kept },
  };
}

function cutTo(end: number, opened: OpenedFile): OpenedFile {
  const { file } = opened;
  if (fstatSync(file).size > end) {
    ftruncateSync(file, end);
    fsyncSync(file);
  }
  return opened;
}

interface Fresh {
  readonly file: number;
  /** The copy of the damaged file. */
  readonly kept: string | undefined;
}

/** The temporary file, with the records that could be read. */
function freshFile(path: string, { mark, records, findings }: OpenedFile): Fresh {
  const file = openFresh(path);
  try {
    write(file, headerOf(mark));
    for (const piece of piecesOf(mark, records, NO_FRAMES)) write(file, piece);
    const isDamaged = findings.places + findings.restored > 0;
    return { file, kept: isDamaged ? keepDamaged(path) : undefined };
  } catch (cause) {
    closeSync(file);
    rmSync(temporaryOf(path), { force: true });
    throw cause;
  }
}

const NO_FRAMES = new Uint8Array(0);

function write(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
