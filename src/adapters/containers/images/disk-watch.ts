/**
 * The disk on which the engine keeps images, watched while one is fetched: neither manifests nor sizes
 * of compressed layers tell how much they become. It can be seen where the engine is on this machine.
 */
import { dirname } from 'node:path';
import { contractLimits } from '../../../base/contract-limits.ts';
import type { Clock } from '../../../base/ports.ts';
import { diskSpace } from '../../disk-space.ts';

export interface DiskWatch {
  /** Undefined where the disk cannot be seen. */
  freeBytes(): Promise<number | undefined>;
  /**
   * Looks again and again until it is ended, and calls `onFull` once: where the disk fills by more than
   * `growthMax` bytes, or has less free than pulls must leave.
   */
  begin(growthMax: number, onFull: (what: 'growth' | 'full') => void): Promise<() => void>;
}

export const DISK_FREE_MIN = contractLimits.diskFree.value;
const LOOK_MS = 100;

/** `folders`: where the engine keeps images; the fullest counts. */
export function watchDisk(folders: readonly string[], clock: Pick<Clock, 'after'>): DiskWatch {
  const free = (): Promise<(number | undefined)[]> => Promise.all(folders.map(freeOf));

  return {
    async freeBytes() {
      const seen = (await free()).filter((bytes) => bytes !== undefined);
      return seen.length === 0 ? undefined : Math.min(...seen);
    },
    async begin(growthMax, onFull) {
      const before = await free();
      let isOver = false;
      const look = async (): Promise<void> => {
        const now = await free();
        if (isOver) return;
        for (const [i, bytes] of now.entries()) {
          const first = before[i];
          if (bytes === undefined || first === undefined) continue;
          const isGrown = first - bytes > growthMax;
          if (!isGrown && bytes >= DISK_FREE_MIN) continue;
          isOver = true;
          onFull(isGrown ? 'growth' : 'full');
          return;
        }
        cancel = clock.after(LOOK_MS, () => void look());
      };
      let cancel = clock.after(LOOK_MS, () => void look());
      return () => {
        isOver = true;
        cancel();
      };
    },
  };
}

/** Only the user of the engine may look into its folder, but the disk is mostly that of the one above. */
async function freeOf(folder: string): Promise<number | undefined> {
  try {
    return await diskSpace(folder).freeBytes();
  } catch (cause) {
    const isClosed = (cause as NodeJS.ErrnoException).code === 'EACCES';
    return isClosed && folder !== dirname(folder) ? freeOf(dirname(folder)) : undefined;
  }
}
