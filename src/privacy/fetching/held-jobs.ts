/**
 * Jobs that wait, without a place, for members that have enough to answer. Those whose item a member has
 * announced and the new ones go on by turns: thousands of the one sort would else hold up the other. Then
 * come all others. Each kind is in the order in which it came.
 */
import type { Held } from './after-attempt.ts';
import { KINDS, type Kind } from './transfer-lines.ts';

export interface OnHold extends Held {
  /** The attempt that goes on then does not count. */
  readonly isEarly: boolean;
}

type Entry<Job> = readonly [Job, OnHold];

/** From the first hold to the next try of all members: what the job waits for may have gone. */
const FIRST_MS = 60_000;
const LONGEST_MS = 600_000;
const GROWTH = 4 / 3;

/** How often held jobs are looked at: one that went on may have found its item elsewhere, and wakes no next one. */
export const LOOK_MS = 30_000;

/** Grows, since a member that is silent may hold some thousand jobs for days. */
export const holdMs = (holds: number): number => Math.min(LONGEST_MS, FIRST_MS * GROWTH ** holds);

export interface Holdable {
  readonly kind: Kind;
  readonly announcedBy: Set<string>;
}

export class HeldJobs<Job extends Holdable> {
  private readonly jobs: Readonly<Record<Kind, Map<Job, OnHold>>> = {
    new: new Map(),
    pending: new Map(),
    lost: new Map(),
  };
  /** The members for which an announced job went on last, so that a new one is next. */
  private readonly newIsNext = new Set<string>();

  get size(): number {
    return this.jobs.new.size + this.jobs.pending.size + this.jobs.lost.size;
  }

  get lostCount(): number {
    return this.jobs.lost.size;
  }

  get(job: Job): OnHold | undefined {
    return this.jobs[job.kind].get(job);
  }

  /**
   * Again: it comes last, for more members. The kind of a job changes only while it is not held. Who does not
   * hold it was asked, so what it has announced no longer counts.
   */
  add(job: Job, onHold: OnHold): void {
    for (const owner of job.announcedBy) {
      if (!onHold.heldBy.has(owner)) job.announcedBy.delete(owner);
    }
    this.jobs[job.kind].delete(job);
    this.jobs[job.kind].set(job, onHold);
  }

  remove(job: Job): void {
    this.jobs[job.kind].delete(job);
  }

  /** So many of those that wait for this member, with what they wait for. */
  of(owner: string, count: number): Entry<Job>[] {
    return [...this.line(owner).take(count)];
  }

  private *line(owner: string): Generator<Entry<Job>, undefined> {
    const announced: Entry<Job>[] = [];
    const others: Entry<Job>[] = [];
    for (const kind of KINDS) {
      for (const entry of this.jobs[kind]) {
        if (!entry[1].heldBy.has(owner)) continue;
        if (entry[0].announcedBy.has(owner)) announced.push(entry);
        else others.push(entry);
      }
    }
    const older = others.findIndex(([{ kind }]) => kind !== 'new');
    const newCount = older < 0 ? others.length : older;
    yield* this.byTurns(owner, announced, others.slice(0, newCount));
    yield* others.slice(newCount);
  }

  private *byTurns(
    owner: string,
    announced: readonly Entry<Job>[],
    fresh: readonly Entry<Job>[],
  ): Generator<Entry<Job>, undefined> {
    for (let [i, j] = [0, 0]; i < announced.length || j < fresh.length; ) {
      const isNew = i === announced.length || (j < fresh.length && this.newIsNext.has(owner));
      if (isNew) this.newIsNext.delete(owner);
      else this.newIsNext.add(owner);
      yield isNew ? fresh[j++]! : announced[i++]!;
    }
  }

  lostOnes(): Job[] {
    return [...this.jobs.lost.keys()];
  }
}
