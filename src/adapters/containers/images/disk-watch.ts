/**
 * The disk on which the engine keeps images, watched while one is fetched: neither manifests nor sizes
 * of compressed layers tell how much they become, or how many files. It can be seen where the engine is
 * on this machine.
 */
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pause } from '../../../base/deadline.ts';
import { contractLimits } from '../../../base/limits/contract-limits.ts';
import type { Clock } from '../../../base/ports/clock.ts';

export interface DiskWatch {
  /** Undefined where the disk cannot be seen. */
  freeBytes(): Promise<number | undefined>;
  /**
   * Looks again and again until it is ended, and calls `onFull` once: where the disk fills by more than
   * `growthMax` bytes or by too many files, or has less free than pulls must leave.
   */
  begin(growthMax: number, onFull: (what: 'growth' | 'full') => void): Promise<Watched>;
}

export interface Watched {
  end(): void;
  /**
   * True once most of what filled the disk is gone; false where it stays, so that others have filled it.
   */
  isFreed(): Promise<boolean>;
}

interface Free {
  readonly bytes: number;
  readonly files: number;
  readonly filesMin: number;
}

export const DISK_FREE_MIN = contractLimits.diskFree.value;
const FILES_MAX = contractLimits.growthFiles.value;
/** Of the files that the disk can hold, so many stay free. */
const FILES_SHARE = contractLimits.filesShare.value;
const LOOK_MS = 100;
/** In which the engine removes what a pull has left. */
const FREED_MS = 10_000;

/** `folders`: where the engine keeps images; the fullest counts. */
export function watchDisk(folders: readonly string[], clock: Pick<Clock, 'after'>): DiskWatch {
  const look = (): Promise<(Free | undefined)[]> => Promise.all(folders.map(freeIn));

  return {
    async freeBytes() {
      const seen = (await look()).flatMap((free) => (free === undefined ? [] : [free.bytes]));
      return seen.length === 0 ? undefined : Math.min(...seen);
    },
    async begin(growthMax, onFull) {
      const before = await look();
      let isOver = false;
      const again = async (): Promise<void> => {
        const now = await look();
        if (isOver) return;
        const found = now.flatMap((free, i) => verdict(before[i], free, growthMax) ?? [])[0];
        if (found === undefined) cancel = clock.after(LOOK_MS, () => void again());
        else onFull(found);
      };
      let cancel = clock.after(LOOK_MS, () => void again());
      return {
        end() {
          isOver = true;
          cancel();
        },
        async isFreed() {
          for (let ms = 0; ms < FREED_MS; ms += LOOK_MS) {
            const now = await look();
            const most = { bytes: growthMax / 2, files: FILES_MAX / 2 };
            if (now.every((free, i) => isWithin(before[i], free, most))) return true;
            await pause(clock, LOOK_MS);
          }
          return false;
        },
      };
    },
  };
}

function verdict(before: Free | undefined, now: Free | undefined, growthMax: number) {
  if (before === undefined || now === undefined) return undefined;
  if (!isWithin(before, now, { bytes: growthMax, files: FILES_MAX })) return 'growth';
  return now.bytes < DISK_FREE_MIN || now.files < now.filesMin ? 'full' : undefined;
}

/** True where no more of the disk is taken than this. */
const isWithin = (
  before: Free | undefined,
  now: Free | undefined,
  most: { readonly bytes: number; readonly files: number },
): boolean =>
  before === undefined ||
  now === undefined ||
  (before.bytes - now.bytes <= most.bytes && before.files - now.files <= most.files);

/** Only the user of the engine may look into its folder, but the disk is mostly that of the one above. */
async function freeIn(folder: string): Promise<Free | undefined> {
  try {
    const { bavail, bsize, ffree, files } = await statfs(folder);
    return { bytes: bavail * bsize, files: ffree, filesMin: Math.floor(files / FILES_SHARE) };
  } catch (cause) {
    const isClosed = (cause as NodeJS.ErrnoException).code === 'EACCES';
    return isClosed && folder !== dirname(folder) ? freeIn(dirname(folder)) : undefined;
  }
}
