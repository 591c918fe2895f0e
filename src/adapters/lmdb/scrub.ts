/**
 * Checks the whole file of an open store in the background, soon after the start and then once a
 * day. It finds changed bits that no read would notice, such as those of a pointer that leads to an
 * old copy of a page. It takes at most a sixth of the thread.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { StoreCorruptError } from '../../base/faults/store-damage.ts';
import { checkFile, type NamedTable } from './check.ts';
import { dataFile } from './environment.ts';

const EVERY_MS = 24 * 3600 * 1000;
/** About a millisecond. */
const TURN_PAGES = 64;
const PAUSE_MS = 5;
/** The file may be written while its beginning is read. */
const TRIES = 3;

export interface Scrub {
  /** Resolves when nothing runs any more. */
  stop(): Promise<void>;
}

export interface Scrubbed {
  /** The first check begins after this time. */
  readonly afterMs: number;
  readonly folder: string;
  readonly tables: readonly NamedTable[];
  /** The pages of the present state are not used again until the returned function is called. */
  pin(): () => void;
  sound(): void;
  damaged(damage: StoreCorruptError): void;
}

class Stopped extends Error {}

export function startScrub({ afterMs, folder, tables, pin, sound, damaged }: Scrubbed): Scrub {
  let stopped = false;
  let running: Promise<void> | undefined;
  let timer = plan(afterMs);

  function plan(ms: number): NodeJS.Timeout {
    const next = setTimeout(() => {
      running = run().catch((cause: Error) => {
        // A file that cannot be read now is tried again the next time.
        if (cause instanceof StoreCorruptError) damaged(cause);
      });
      void running.then(() => {
        if (!stopped) timer = plan(EVERY_MS);
      });
    }, ms);
    next.unref();
    return next;
  }

  async function run(): Promise<void> {
    let why = '';
    for (let left = TRIES; left > 0; left--) {
      const release = pin();
      try {
        const state = await checkFile(dataFile(folder), tables, { turnPages: TURN_PAGES, rest });
        if (state.kind !== 'damaged') return sound();
        why = state.why;
      } catch (cause) {
        if (cause instanceof Stopped) return;
        throw cause;
      } finally {
        release();
      }
    }
    throw new StoreCorruptError(folder, why);
  }

  async function rest(): Promise<void> {
    await pause(PAUSE_MS);
    if (stopped) throw new Stopped();
  }

  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
