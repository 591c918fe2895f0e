/**
 * Remembers that the file of a store needs no complete check before it is opened, since reading all
 * of it takes time in proportion to the chain. There are two such states:
 *
 *   the store was closed properly, and nobody has written to the file since: size and time are those
 *   the process ended without closing it, and the machine has not been started since: so the system
 *   has kept everything that was written
 *
 * The second one serves a few times without a complete check, which the background makes soon after
 * each start. So a file whose damage ends the process again and again is checked in full.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { leave } from '../file-owner.ts';
import { dataFile } from './environment.ts';

const NAME = 'checked.json';
/** Differs after each start of the machine. */
const BOOT = '/proc/sys/kernel/random/boot_id';

const STARTS_MAX = 4;

interface Mark {
  /** Where the store is open or was not closed. */
  readonly boot?: string;
  /** How many starts have trusted the file since its last complete check. */
  readonly starts?: number;
  /** Where it was closed. */
  readonly file?: string;
}

export interface CheckMark {
  /** True where the mark of an earlier process vouches for the file. */
  readonly isTrusted: boolean;
  /** The open file has been checked in full. */
  checked(): void;
  /** The file is closed. */
  closed(): void;
  /** Reading or writing it failed: the next start checks it in full. */
  distrust(): void;
}

/** A file that no mark vouches for gets one when it has been checked. */
export function takeMark(folder: string): CheckMark {
  const path = join(folder, NAME);
  const known = readMark(path);
  const boot = bootOf();
  const { starts = 0 } = known ?? {};
  const isClosed = known?.file !== undefined && known.file === fileOf(folder);
  const isKept = known?.boot !== undefined && known.boot === boot && starts < STARTS_MAX;
  const isTrusted = isClosed || isKept;
  let isSound = true;
  if (known !== undefined) empty(path);
  const write = (mark: Mark): void => {
    if (!isSound) return;
    try {
      writeFileSync(path, JSON.stringify(mark));
      leave(path);
    } catch {
      // The next start takes longer.
      rmSync(path, { force: true });
    }
  };
  const open = (starts: number): void => {
    if (boot !== undefined) write({ boot, starts });
  };
  if (isTrusted) open(starts + 1);
  return {
    isTrusted,
    checked: () => open(0),
    closed: () => write({ file: fileOf(folder) ?? '' }),
    distrust: () => {
      isSound = false;
      rmSync(path, { force: true });
    },
  };
}

/** Root leaves the file to its owner, so it is not removed. */
function empty(path: string): void {
  try {
    writeFileSync(path, '');
  } catch {
    rmSync(path, { force: true });
  }
}

function readMark(path: string): Mark | undefined {
  try {
    const mark: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof mark === 'object' && mark !== null ? mark : undefined;
  } catch {
    return undefined;
  }
}

/** Size and time of the last write; undefined where there is no file. */
function fileOf(folder: string): string | undefined {
  const stat = statSync(dataFile(folder), { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.size} ${stat.mtimeNs}`;
}

function bootOf(): string | undefined {
  try {
    return readFileSync(BOOT, 'latin1').trim();
  } catch {
    return undefined;
  }
}
