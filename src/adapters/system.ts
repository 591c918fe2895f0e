/** The machine's clock and randomness. */
import { randomBytes } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import type { Clock } from '../base/ports/clock.ts';
import type { DiskSpace } from '../base/ports/files.ts';
import type { Random } from '../base/ports/random.ts';
import type { TimeSource } from './ntp.ts';

const TIMER_MS_MAX = 2 ** 31 - 1;

/** Without a time source the system time is used as it is. */
export function systemClock(source?: TimeSource): Clock {
  return {
    now: () => source?.now() ?? Date.now(),
    system: () => Date.now(),
    monotonic: () => performance.now(),
    after(ms, action) {
      const timer = setTimeout(action, Math.min(Math.max(ms, 0), TIMER_MS_MAX));
      return () => clearTimeout(timer);
    },
    turn: () => new Promise((resolve) => setImmediate(resolve)),
    synchronized: () => source?.fresh() ?? true,
    confirmed: () => source?.trouble() === undefined,
  };
}

export const systemRandom: Random = {
  bytes: (count) => new Uint8Array(randomBytes(count)),
};

/** The free space of the file system that holds a folder, for users without privileges. */
export const diskSpace = (folder: string): DiskSpace => ({
  async freeBytes() {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  },
});
