/**
 * Jobs that wait, without a place, for members that have enough to answer: first those whose item the
 * member says it has, then new ones, each kind in the order in which they came.
 */
import type { Held } from './after-attempt.ts';
import { KINDS, type Kind } from './transfer-lines.ts';

export interface OnHold extends Held {
  /** The attempt that goes on then does not count. */
  readonly isEarly: boolean;
}

/** From the first hold to the next try of all members: what the job waits for may have gone. */
const FIRST_MS = 60_000;
const LONGEST_MS = 600_000;
const GROWTH = 4 / 3;

/** How often held jobs are looked at: one that went on may have found its item elsewhere, and wakes no next one. */
export const LOOK_MS = 30_000;

/** Grows, since a member that is silent may hold some thousand jobs for days. */
export const holdMs = (holds: number): number => Math.min(LONGEST_MS, FIRST_MS * GROWTH ** holds);

export class HeldJobs<Job extends { readonly kind: Kind }> {
  private readonly jobs: Readonly<Record<Kind, Map<Job, OnHold>>> = {
    new: new Map(),
    pending: new Map(),
    lost: new Map(),
  };
  private readonly announced = new Map<string, Set<Job>>();

  get size(): number {
    return this.jobs.new.size + this.jobs.pending.size + this.jobs.lost.size;
  }

  get lostCount(): number {
    return this.jobs.lost.size;
  }

  get(job: Job): OnHold | undefined {
    return this.jobs[job.kind].get(job);
  }

  /** Again: it comes last, for more members. The kind of a job changes only while it is not held. */
  add(job: Job, onHold: OnHold): void {
    this.jobs[job.kind].delete(job);
    this.jobs[job.kind].set(job, onHold);
  }

  remove(job: Job): void {
    for (const owner of this.get(job)?.heldBy ?? []) this.forget(owner, job);
    this.jobs[job.kind].delete(job);
  }

  /** This member, for which the job waits, says that it has the item. */
  announce(job: Job, owner: string): void {
    const jobs = this.announced.get(owner) ?? new Set();
    this.announced.set(owner, jobs.add(job));
  }

  /** So many of those that wait for this member, with what they wait for. */
  of(owner: string, count: number): (readonly [Job, OnHold])[] {
    const announced = this.announced.get(owner) ?? new Set();
    const found = [...announced].slice(0, count).map((job) => [job, this.get(job)!] as const);
    for (const kind of KINDS) {
      for (const entry of this.jobs[kind]) {
        if (found.length >= count) return found;
        if (entry[1].heldBy.has(owner) && !announced.has(entry[0])) found.push(entry);
      }
    }
    return found;
  }

  private forget(owner: string, job: Job): void {
    const jobs = this.announced.get(owner);
    jobs?.delete(job);
    if (jobs?.size === 0) this.announced.delete(owner);
  }

  lostOnes(): Job[] {
    return [...this.jobs.lost.keys()];
  }
}
