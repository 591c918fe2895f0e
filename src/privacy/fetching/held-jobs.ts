/**
 * Jobs that wait, without a place, for members that have enough to answer, in the order in which
 * they came.
 */
import type { Held } from './after-attempt.ts';
import type { Kind } from './transfer-lines.ts';

export interface OnHold extends Held {
  /** The attempt that goes on then does not count. */
  readonly isEarly: boolean;
}

/** From the first hold to the next try of all members: what the job waits for may have gone. */
const FIRST_MS = 60_000;
const LONGEST_MS = 600_000;
const GROWTH = 4 / 3;

/** Grows, since a member that is silent may hold some thousand jobs for days. */
export const holdMs = (holds: number): number => Math.min(LONGEST_MS, FIRST_MS * GROWTH ** holds);

export class HeldJobs<Job extends { readonly kind: Kind }> {
  private readonly jobs = new Map<Job, OnHold>();
  private lost = 0;

  get size(): number {
    return this.jobs.size;
  }

  get lostCount(): number {
    return this.lost;
  }

  get(job: Job): OnHold | undefined {
    return this.jobs.get(job);
  }

  /** The kind of a job changes only while it is not held. */
  add(job: Job, onHold: OnHold): void {
    this.jobs.set(job, onHold);
    if (job.kind === 'lost') this.lost++;
  }

  remove(job: Job): void {
    if (this.jobs.delete(job) && job.kind === 'lost') this.lost--;
  }

  /** So many of those that wait for this member, with what they wait for. */
  of(owner: string, count: number): [Job, OnHold][] {
    const found: [Job, OnHold][] = [];
    for (const entry of this.jobs) {
      if (found.length >= count) break;
      if (entry[1].heldBy.has(owner)) found.push(entry);
    }
    return found;
  }

  lostOnes(): Job[] {
    return [...this.jobs.keys()].filter(({ kind }) => kind === 'lost');
  }
}
