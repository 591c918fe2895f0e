/**
 * Which jobs give way where memory is full: those whose next attempt is the farthest, of the policies
 * with the most of them. So items that nobody has hold up no new ones, and those of one policy do
 * not displace the few of another.
 */

import { latin1 } from '../../base/bytes.ts';
import type { ItemId } from '../protocol/item-id.ts';

/** Jobs in memory; about half a kilobyte each. */
export const JOBS_MAX = 5_000;
/** Evicted at once, since to choose them costs a look at all. */
export const EVICTED_AT_ONCE = JOBS_MAX / 10;

export interface Evictable {
  readonly item: ItemId;
  /** The time of the next attempt. */
  readonly due: number;
}

interface Ranked<Job> {
  readonly job: Job;
  /** The number of jobs of its policy that are due before. */
  readonly rank: number;
}

/** The jobs to give up, `count` at most. */
export function leastUrgent<Job extends Evictable>(jobs: Iterable<Job>, count: number): Job[] {
  const byPolicy = Map.groupBy(jobs, ({ item }) => latin1(item.policyId));
  const ranked: Ranked<Job>[] = [];
  for (const list of byPolicy.values()) {
    list.sort((a, b) => a.due - b.due);
    for (const [rank, job] of list.entries()) ranked.push({ job, rank });
  }
  ranked.sort((a, b) => b.rank - a.rank || b.job.due - a.job.due);
  return ranked.slice(0, count).map(({ job }) => job);
}
