/**
 * The order of transfers: a queue for each kind of item.
 *
 * Invariants: there are never more transfers than allowed; pending items take at most half of them
 * and lost ones a quarter, but at least one each, so that a new item seldom waits for old ones.
 */

/** fetch-queue.ts explains the kinds. */
export type Kind = 'new' | 'pending' | 'lost';

/** The order in which the queues are read. */
export const KINDS: readonly Kind[] = ['new', 'pending', 'lost'];
const SHARES: Readonly<Record<Kind, number>> = { new: 1, pending: 0.5, lost: 0.25 };

export class TransferLines<Job extends { readonly kind: Kind }> {
  private readonly parallelism: number;
  private readonly lines: Readonly<Record<Kind, Set<Job>>> = {
    new: new Set(),
    pending: new Set(),
    lost: new Set(),
  };
  private readonly running: Record<Kind, number> = { new: 0, pending: 0, lost: 0 };

  constructor(parallelism: number) {
    this.parallelism = parallelism;
  }

  /** The number of running transfers. */
  get transfers(): number {
    return this.running.new + this.running.pending + this.running.lost;
  }

  /** The number of jobs of this kind in the queue. */
  waiting(kind: Kind): number {
    return this.lines[kind].size;
  }

  add(job: Job): void {
    this.lines[job.kind].add(job);
  }

  remove(job: Job): void {
    this.lines[job.kind].delete(job);
  }

  /** The next job; its transfer counts until `finish`. */
  begin(): Job | undefined {
    if (this.transfers >= this.parallelism) return undefined;
    for (const kind of KINDS) {
      const most = Math.max(1, Math.floor(this.parallelism * SHARES[kind]));
      if (this.running[kind] >= most) continue;
      const [job] = this.lines[kind];
      if (job === undefined) continue;
      this.lines[kind].delete(job);
      this.running[kind] += 1;
      return job;
    }
    return undefined;
  }

  /** A transfer of a job that began as this kind has ended. */
  finish(kind: Kind): void {
    this.running[kind] -= 1;
  }
}
