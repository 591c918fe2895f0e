/** Work beside the crawl: a node that fails there is asked again later, and the crawl goes on. */
import type { Clock } from '../../../base/ports/clock.ts';
import type { Database } from '../../../base/ports/database.ts';
import type { Log } from '../../../base/ports/log.ts';
import { NodeAway, type NodeReader, TooMuch } from '../node-reader.ts';

/** What one pass of the crawler may use. */
export interface Pass {
  readonly node: NodeReader;
  /** How many nodes there are; another one serves the next pass where this one fails. */
  readonly nodes: number;
  /** Throws LockLost once another process may write. */
  readonly assertLocked: () => void;
}

export interface RefreshDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

/** True where more may be left. Rejects with the failure of the store or of the lock. */
export type BesideCrawl = (pass: Pass) => Promise<boolean>;

const AGAIN_MS = 10_000;

/** `failed` is called with why the node gave no answer. */
export function besideCrawl(
  work: BesideCrawl,
  clock: Pick<Clock, 'monotonic'>,
  failed: (why: string) => void,
): BesideCrawl {
  let pausedUntil = Number.NEGATIVE_INFINITY;
  return async (pass) => {
    if (clock.monotonic() < pausedUntil) return false;
    try {
      return await work(pass);
    } catch (cause) {
      if (!(cause instanceof NodeAway || cause instanceof TooMuch)) throw cause;
      pausedUntil = clock.monotonic() + AGAIN_MS;
      failed(cause.message);
      return false;
    }
  };
}
