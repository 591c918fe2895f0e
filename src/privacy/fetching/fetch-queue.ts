/**
 * The items that this node has to fetch, and when it tries (privacy.md#fetching,
 * privacy.md#exchange-between-nodes).
 *
 *   new        just bound by a block: tried at once, or as soon as a peer announces it
 *   pending    tried before: again after a while, each time a third longer
 *   lost       tried too often: again every ten minutes, in any order, and when a client asks for it
 *
 * Invariants: an item is fetched once at a time; the rest of a long list waits on disk; a new item
 * takes the place in memory of one that was tried before, or of a new one of a policy with more of
 * them; a dropped item or a stopped queue leaves no timer.
 */
import { isOurs } from '../../base/assert.ts';
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Random } from '../../base/ports/random.ts';
import { type ItemId, itemKey, itemOfKey } from '../protocol/item-id.ts';
import { afterAttempt, type Held, type Outcome, type RetryOptions } from './after-attempt.ts';
import { sampleOf } from './backlog-sample.ts';
import { leastUrgent } from './eviction.ts';
import type { Backlog } from './fetch-backlog.ts';
import { type Kind, TransferLines } from './transfer-lines.ts';

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
  readonly fetch: (item: ItemId) => Promise<Outcome | Held>;
  /** Called when an item has been tried so often that it counts as lost. */
  readonly onLost: (item: ItemId) => void;
}

/** Items in memory by kind; the rest of a long list waits on disk. */
export interface QueueSizes extends Readonly<Record<Kind, number>> {
  readonly transfers: number;
}

interface Job {
  readonly item: ItemId;
  readonly key: string;
  kind: Kind;
  failures: number;
  /** The time of the next attempt. */
  due: number;
  /** Undefined while the item is being fetched or queued. */
  cancelWait: (() => void) | undefined;
  /** Those that were not asked in the last attempt, while it waits for them. */
  heldBy: Held['heldBy'] | undefined;
  running: boolean;
  /** Lined up before its time by what another node says or does, so the attempt does not count. */
  isEarly: boolean;
  /** Asked for during an attempt, which may have found the data before: another one follows. */
  wantedMeanwhile: boolean;
  dropped: boolean;
}

/** Jobs in memory; about half a kilobyte each. */
const JOBS_MAX = 5_000;
/** Of these, lost ones in line: those whose sources are silent stay for hours. */
const LOST_JOBS_MAX = JOBS_MAX / 2;
/** A held job is tried again after so long at the latest: what it waits for may have gone. */
const HELD_MS = 60_000;
/** Evicted at once, since to choose them costs a look at all. */
const EVICTED_AT_ONCE = JOBS_MAX / 10;
/** Jobs that go before the rest is read again, since that takes a write to the disk. */
const LOADED_AT_LEAST = JOBS_MAX / 20;
/** What is read from disk at once, and of a long policy. */
const SAMPLE = { itemsMax: JOBS_MAX, policyMax: JOBS_MAX / 4 };
const LOST_SAMPLE = { itemsMax: LOST_JOBS_MAX, policyMax: LOST_JOBS_MAX };

export class FetchQueue {
  private readonly options: FetchQueueOptions;
  private readonly deps: FetchQueueDeps;
  private readonly jobs = new Map<string, Job>();
  private readonly lines: TransferLines<Job>;
  private readonly fetching = new Set<Promise<void>>();
  /** Those that wait for a peer with others to answer, in the order in which they came. */
  private readonly held = new Set<Job>();
  /** How many of them are lost ones. */
  private heldLost = 0;
  /** There are rows on disk without a job. */
  private more = false;
  /** They are read once there are no more jobs than this. */
  private loadAt = JOBS_MAX / 2;
  private loading = false;
  private stopped = false;
  private cancelLost: (() => void) | undefined;

  constructor(options: FetchQueueOptions, deps: FetchQueueDeps) {
    this.options = options;
    this.deps = deps;
    this.lines = new TransferLines<Job>(options.parallelism);
  }

  /** Tries the items left from the last stop. */
  async start(): Promise<void> {
    if (this.stopped) return;
    this.waitForLost();
    await this.load();
  }

  sizes(): QueueSizes {
    const counts = { new: 0, pending: 0, lost: 0 };
    for (const { kind } of this.jobs.values()) counts[kind]++;
    return { ...counts, transfers: this.lines.transfers };
  }

  /** A new item, to be tried after `delayMs`. */
  add(item: ItemId, delayMs: number): void {
    this.deps.backlog.set(item, 'pending');
    this.enlist(item, 'new', delayMs);
  }

  /** A client asks for the item: it is tried at once, even if it is lost. */
  want(item: ItemId): void {
    this.deps.backlog.set(item, 'pending');
    const known = this.jobs.get(itemKey(item));
    if (known === undefined) {
      this.enlist(item, 'new', 0);
      return;
    }
    known.wantedMeanwhile = known.running;
    if (known.failures >= this.options.attemptsMax - 1) known.failures = 0;
    if (known.running) return;
    // Not behind items that nobody asks for, whose sources may be silent.
    this.lines.remove(known);
    this.unhold(known);
    known.kind = 'new';
    this.lineUp(known);
  }

  /** Tries an item at once that waits for its next attempt, in memory or on disk; `from` announces it. */
  retryNow(item: ItemId, from: Uint8Array): void {
    const job = this.jobs.get(itemKey(item));
    if (job !== undefined) {
      this.tryEarly(job, latin1(from));
      return;
    }
    const state = this.deps.backlog.stateOf(item);
    if (state !== undefined) this.enlist(item, state === 'lost' ? 'lost' : 'new', 0);
  }

  /** The same for all in memory that this member may have, who has connected. */
  retryAllNow(member: Uint8Array, isNearer: (item: ItemId) => boolean): void {
    const from = latin1(member);
    for (const job of this.jobs.values()) if (isNearer(job.item)) this.tryEarly(job, from);
  }

  /** Tries so many of the items that wait for this member. Whoever lacks them is not asked for them meanwhile. */
  retryHeld(member: Uint8Array, count: number): void {
    const owner = latin1(member);
    let left = count;
    for (const job of this.held) {
      if (left === 0) return;
      if (job.heldBy?.has(owner) !== true) continue;
      left--;
      this.lineUp(job);
    }
  }

  drop(item: ItemId): void {
    const key = itemKey(item);
    this.deps.backlog.set(itemOfKey(key), undefined);
    const job = this.jobs.get(key);
    if (job === undefined) return;
    this.discard(job);
    this.loadSoon();
  }

  /** Resolves when nothing is being fetched. */
  async idle(): Promise<void> {
    while (this.fetching.size > 0) await Promise.all(this.fetching);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelLost?.();
    for (const { cancelWait } of this.jobs.values()) cancelWait?.();
    await Promise.all(this.fetching);
  }

  private enlist(item: ItemId, kind: Kind, delayMs: number): Job | undefined {
    const key = itemKey(item);
    const known = this.jobs.get(key);
    if (known !== undefined || this.stopped) return known;
    if (kind === 'lost' && this.lines.waiting('lost') + this.heldLost >= LOST_JOBS_MAX)
      return undefined;
    if (this.jobs.size >= JOBS_MAX && kind === 'new') this.makeRoom();
    if (this.jobs.size >= JOBS_MAX) {
      this.more ||= kind !== 'lost';
      return undefined;
    }
    const job = newJob(key, kind, kind === 'lost' ? this.options.attemptsMax - 1 : 0);
    this.jobs.set(key, job);
    this.wait(job, delayMs);
    return job;
  }

  private makeRoom(): void {
    const idle = [...this.jobs.values()].filter(({ running }) => !running);
    const old = idle.filter(({ kind }) => kind !== 'new');
    this.evict(old.length > 0 ? old : idle);
  }

  /** Their rows stay on disk. */
  private evict(jobs: readonly Job[]): void {
    for (const job of leastUrgent(jobs, EVICTED_AT_ONCE)) this.discard(job);
    this.more = true;
  }

  private discard(job: Job): void {
    job.dropped = true;
    job.cancelWait?.();
    this.unhold(job);
    this.lines.remove(job);
    this.jobs.delete(job.key);
  }

  private tryEarly(job: Job, from: string): void {
    // Who has enough to answer has not become nearer by what it says.
    if (job.cancelWait === undefined || job.heldBy?.has(from) === true) return;
    job.isEarly = true;
    this.lineUp(job);
  }

  private wait(job: Job, delayMs: number): void {
    job.due = this.deps.clock.monotonic() + delayMs;
    if (delayMs <= 0) this.lineUp(job);
    else job.cancelWait = this.deps.clock.after(delayMs, () => this.lineUp(job));
  }

  private lineUp(job: Job): void {
    if (job.running || job.dropped || this.stopped) return;
    job.cancelWait?.();
    job.cancelWait = undefined;
    this.unhold(job);
    this.lines.add(job);
    this.pump();
  }

  private pump(): void {
    while (!this.stopped) {
      const job = this.lines.begin();
      if (job === undefined) return;
      const done = this.run(job).finally(() => this.fetching.delete(done));
      this.fetching.add(done);
    }
  }

  private async run(job: Job): Promise<void> {
    const { kind } = job;
    job.running = true;
    job.wantedMeanwhile = false;
    const { isEarly } = job;
    job.isEarly = false;
    const outcome = await this.deps.fetch(job.item).catch((cause) => this.failed(cause));
    this.lines.finish(kind);
    job.running = false;
    if (job.dropped || this.stopped) return this.pump();
    if (typeof outcome === 'object') this.hold(job, outcome, isEarly);
    else if (outcome === 'missing' && isEarly) this.waitOn(job);
    else this.settle(job, outcome, kind);
    this.pump();
  }

  /** No attempt: it goes on when a peer has less to answer. */
  private hold(job: Job, { heldBy }: Held, isEarly: boolean): void {
    if (job.wantedMeanwhile) job.kind = 'new';
    job.isEarly = isEarly;
    job.heldBy = heldBy;
    this.held.add(job);
    if (job.kind === 'lost') this.heldLost++;
    job.cancelWait = this.deps.clock.after(HELD_MS, () => this.lineUp(job));
  }

  private unhold(job: Job): void {
    job.heldBy = undefined;
    if (this.held.delete(job) && job.kind === 'lost') this.heldLost--;
  }

  /** For the next attempt, whose time has not changed. */
  private waitOn(job: Job): void {
    job.kind = 'pending';
    this.wait(job, job.due - this.deps.clock.monotonic());
  }

  private failed(cause: unknown): Outcome {
    if (isOurs(cause)) throw cause;
    this.deps.log.error('privacy.fetch-failed', { why: String(cause) });
    return 'missing';
  }

  private settle(job: Job, outcome: Outcome, kind: Kind): void {
    const step = afterAttempt(outcome, { kind, failures: job.failures }, this.options);
    if (step.kind === 'settled' && job.wantedMeanwhile) {
      this.lineUp(job);
      return;
    }
    if (step.kind === 'again') {
      job.kind = 'pending';
      job.failures += 1;
      this.wait(job, step.delayMs);
      return;
    }
    if (step.kind === 'lost' && step.isFirst) this.deps.onLost(job.item);
    this.forget(job, step.kind === 'lost' ? 'lost' : undefined);
  }

  private forget(job: Job, state: 'lost' | undefined): void {
    this.jobs.delete(job.key);
    this.deps.backlog.set(job.item, state);
    this.loadSoon();
  }

  private loadSoon(): void {
    if (this.more && this.jobs.size <= this.loadAt) void this.load();
  }

  /** Makes jobs of the rows that have none. */
  private async load(): Promise<void> {
    if (this.loading || this.stopped) return;
    this.loading = true;
    const { backlog, random } = this.deps;
    await backlog.flush();
    if (this.stopped) return;
    const { items, isPart } = sampleOf('pending', backlog, random, SAMPLE);
    this.more = isPart;
    const before = this.jobs.size;
    for (const item of items) this.enlist(item, 'pending', 0);
    const { size } = this.jobs;
    // Again when half of them have gone; those that nobody has may stay for hours.
    const part = Math.max((size - before) / 2, LOADED_AT_LEAST);
    this.loadAt = Math.max(0, Math.min(JOBS_MAX - 2 * EVICTED_AT_ONCE, size - part));
    this.loading = false;
  }

  /** Others of the items that wait on disk have their turn now and then, too. */
  private async rotate(): Promise<void> {
    if (!this.more) return;
    const isFull = this.jobs.size > JOBS_MAX - EVICTED_AT_ONCE;
    if (isFull) this.evict([...this.jobs.values()].filter(mayRest));
    await this.load();
  }

  private waitForLost(): void {
    this.cancelLost = this.deps.clock.after(this.options.lostEveryMs, () => this.tryLost());
  }

  private async tryLost(): Promise<void> {
    const { backlog, random } = this.deps;
    this.waitForLost();
    await backlog.flush();
    if (this.stopped) return;
    await this.rotate();
    if (this.stopped) return;
    const { items } = sampleOf('lost', backlog, random, LOST_SAMPLE);
    for (const item of items) this.enlist(item, 'lost', 0);
  }
}

/**
 * It waits for its time, or was tried before and waits for its turn: a member could else have all
 * places taken by what it has tried early, again and again.
 */
const mayRest = ({ kind, running, cancelWait }: Job): boolean =>
  cancelWait !== undefined || (kind === 'pending' && !running);

function newJob(key: string, kind: Kind, failures: number): Job {
  return {
    // Copies, because callers pass views of whole transactions.
    item: itemOfKey(key),
    key,
    kind,
    failures,
    due: 0,
    cancelWait: undefined,
    heldBy: undefined,
    running: false,
    isEarly: false,
    wantedMeanwhile: false,
    dropped: false,
  };
}
