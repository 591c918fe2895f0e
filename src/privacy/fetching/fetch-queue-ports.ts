/** What the queue of items to fetch needs, and what it tells (fetch-queue.ts). */
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Random } from '../../base/ports/random.ts';
import type { ItemId } from '../protocol/item-id.ts';
import type { Held, Outcome, RetryOptions } from './after-attempt.ts';
import type { Backlog } from './fetch-backlog.ts';
import type { Kind } from './transfer-lines.ts';

export interface FetchQueueOptions extends RetryOptions {
  /**
   * Transfers at a time; those of pending items take at most half of them, those of lost ones a
   * quarter.
   */
  readonly parallelism: number;
  readonly lostEveryMs: number;
}

export interface FetchQueueDeps {
  readonly backlog: Pick<Backlog, 'set' | 'list' | 'flush' | 'stateOf'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Asks only these members, as `latin1`, where they are given. */
  readonly fetch: (item: ItemId, only?: ReadonlySet<string>) => Promise<Outcome | Held>;
  /** How many items more connected members may be asked for, by their addresses as `latin1`. */
  readonly free: () => ReadonlyMap<string, number>;
  /** True for a member, as `latin1`, that did not begin to answer lately, and is asked after the others. */
  readonly isBusy: (owner: string) => boolean;
  /** Called when an item has been tried so often that it counts as lost. */
  readonly onLost: (item: ItemId) => void;
}

/** Items in memory by kind; the rest of a long list waits on disk. */
export interface QueueSizes extends Readonly<Record<Kind, number>> {
  readonly transfers: number;
}
