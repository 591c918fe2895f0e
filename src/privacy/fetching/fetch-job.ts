/** An item that this node has to fetch, in memory. fetch-queue.ts determines when it is tried. */
import { type ItemId, itemOfKey } from '../protocol/item-id.ts';
import type { Kind } from './transfer-lines.ts';

export interface Job {
  readonly item: ItemId;
  readonly key: string;
  kind: Kind;
  failures: number;
  /** The time of the next attempt. */
  due: number;
  /** Undefined while the item is being fetched or queued. */
  cancelWait: (() => void) | undefined;
  running: boolean;
  /** Who alone is asked in this attempt or the one in line, as `latin1`; undefined: all. */
  only: ReadonlySet<string> | undefined;
  /** Lined up before its time by what another node says or does, so the attempt does not count. */
  isEarly: boolean;
  /** Who announced it, or connected, during an attempt, other than those who alone are asked. */
  readonly next: Set<string>;
  /** Who has announced it, had enough to answer, and was not asked since. */
  readonly announcedBy: Set<string>;
  /** How often it was held after a try of all members. */
  holds: number;
  /** The time of the next try of all, while it waits for some or goes on with these. */
  heldUntil: number | undefined;
  /** Asked for during an attempt, which may have found the data before: another one follows. */
  wantedMeanwhile: boolean;
  dropped: boolean;
}

export function newJob(key: string, kind: Kind, failures: number): Job {
  return {
    // Copies, because callers pass views of whole transactions.
    item: itemOfKey(key),
    key,
    kind,
    failures,
    due: 0,
    cancelWait: undefined,
    running: false,
    only: undefined,
    isEarly: false,
    next: new Set(),
    announcedBy: new Set(),
    holds: 0,
    heldUntil: undefined,
    wantedMeanwhile: false,
    dropped: false,
  };
}

/**
 * It waits for its time, or was tried before and waits for its turn: a member could else have all
 * places taken by what it has tried early, again and again.
 */
export const mayRest = ({ kind, running, cancelWait }: Job): boolean =>
  cancelWait !== undefined || (kind === 'pending' && !running);
