/**
 * The items that this node has to fetch, and when it tries (privacy.md#fetching,
 * privacy.md#exchange-between-nodes).
 *
 *   new        just bound by a block: tried at once, or as soon as a peer announces it
 *   pending    tried before, or held for long: again after a while, each time a third longer
 *   lost       tried too often: again every ten minutes, in any order, and when a client asks for it
 *
 * Invariants: an item is fetched once at a time; the rest of a long list waits on disk; a new item
 * takes the place in memory of one that was tried before, or of a new one of a policy with more of
 * them; a dropped item or a stopped queue leaves no timer.
 */
import { isOurs } from '../../base/assert.ts';
import { latin1 } from '../../base/bytes.ts';
import { type ItemId, itemKey, itemOfKey } from '../protocol/item-id.ts';
import { afterAttempt, type Held, type Outcome } from './after-attempt.ts';
import { sampleOf } from './backlog-sample.ts';
import { EVICTED_AT_ONCE, JOBS_MAX, leastUrgent } from './eviction.ts';
import { type Job, mayRest, newJob } from './fetch-job.ts';
import type { FetchQueueDeps, FetchQueueOptions, QueueSizes } from './fetch-queue-ports.ts';
import { HeldJobs, holdMs, LOOK_MS, type OnHold } from './held-jobs.ts';
import { type Kind, TransferLines } from './transfer-lines.ts';

/** Of the jobs in memory, lost ones in line: those whose sources are silent stay for hours. */
const LOST_JOBS_MAX = JOBS_MAX / 2;
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
  private readonly held = new HeldJobs<Job>();
  /** There are rows on disk without a job. */
  private more = false;
  /** They are read once there are no more jobs than this. */
  private loadAt = JOBS_MAX / 2;
  private loading = false;
  private stopped = false;
  private cancelLost: (() => void) | undefined;
  private cancelLook: (() => void) | undefined;

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
    this.held.remove(known);
    known.kind = 'new';
    known.holds = 0;
    this.tryAll(known);
  }

  /**
   * Asks this member, who announces the item, at once, where the item is not being fetched. Others are not
   * asked: a member could else have any number of requests sent to them.
   */
  retryNow(item: ItemId, from: Uint8Array): void {
    this.ask(item, latin1(from));
  }

  /** The same for all in memory that this member may have, who has connected: as many at a time as it answers. */
  retryAllNow(member: Uint8Array, isNearer: (item: ItemId) => boolean): void {
    const from = latin1(member);
    for (const job of this.jobs.values()) if (isNearer(job.item)) this.waitFor(job, from);
    this.wake(from, this.deps.free().get(from) ?? 0);
  }

  /** Goes on with so many of the items that wait for this member. */
  retryHeld(member: Uint8Array, count: number): void {
    this.wake(latin1(member), count);
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
    this.cancelLook?.();
    for (const { cancelWait } of this.jobs.values()) cancelWait?.();
    await Promise.all(this.fetching);
  }

  private enlist(item: ItemId, kind: Kind, delayMs: number, only?: Job['only']): Job | undefined {
    const key = itemKey(item);
    const known = this.jobs.get(key);
    if (known !== undefined || this.stopped) return known;
    if (kind === 'lost' && !this.hasRoomForLost()) return undefined;
    if (this.jobs.size >= JOBS_MAX && kind === 'new') this.makeRoom();
    if (this.jobs.size >= JOBS_MAX) {
      this.more ||= kind !== 'lost';
      return undefined;
    }
    const job = newJob(key, kind, kind === 'lost' ? this.options.attemptsMax - 1 : 0);
    job.only = only;
    this.jobs.set(key, job);
    this.wait(job, delayMs);
    return job;
  }

  /** Those that are held give way, since whoever holds them may be silent for ever. */
  private hasRoomForLost(): boolean {
    if (this.lines.waiting('lost') + this.held.lostCount < LOST_JOBS_MAX) return true;
    for (const job of leastUrgent(this.held.lostOnes(), EVICTED_AT_ONCE)) this.discard(job);
    return this.lines.waiting('lost') + this.held.lostCount < LOST_JOBS_MAX;
  }

  private makeRoom(): void {
    const idle = [...this.jobs.values()].filter(({ running }) => !running);
    const old = idle.filter((job) => job.kind !== 'new' || this.held.get(job) !== undefined);
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
    this.held.remove(job);
    this.lines.remove(job);
    this.jobs.delete(job.key);
  }

  private ask(item: ItemId, from: string): void {
    const known = this.jobs.get(itemKey(item));
    if (known !== undefined) {
      this.tryEarly(known, from);
      return;
    }
    const state = this.deps.backlog.stateOf(item);
    if (state === undefined) return;
    this.enlist(item, state === 'lost' ? 'lost' : 'new', 0, new Set([from]));
  }

  private tryEarly(job: Job, from: string): void {
    if (job.running) {
      // Where all are asked, it may have said before that it lacks the item.
      if (job.only?.has(from) !== true) job.next.add(from);
      return;
    }
    if (job.cancelWait === undefined) {
      if (job.only !== undefined) job.only = new Set([...job.only, from]);
      return;
    }
    const onHold = this.held.get(job);
    // All are asked soon, and this one need not delay that.
    const isSoon = job.kind === 'new' && onHold === undefined && this.deps.isBusy(from);
    if (isSoon || onHold?.heldBy.has(from) === true) {
      // Who has enough to answer is asked when it has fewer.
      job.announcedBy.add(from);
      return;
    }
    job.only = new Set(onHold?.heldBy).add(from);
    job.isEarly = onHold?.isEarly ?? true;
    this.lineUp(job);
  }

  /** To try thousands of jobs, and look for each in the storage, is too much each time that a member connects. */
  private waitFor(job: Job, from: string): void {
    const onHold = this.held.get(job);
    if (job.cancelWait === undefined) this.tryEarly(job, from);
    // It is among all who are asked soon; asked alone, it could delay them by its silence.
    else if (job.kind === 'new' && onHold === undefined) return;
    else if (onHold?.heldBy.has(from) !== true) {
      job.cancelWait();
      const heldBy = new Set(onHold?.heldBy).add(from);
      this.hold(job, { heldBy, isEarly: onHold?.isEarly ?? true });
    }
  }

  /** It asks those that it waits for, since the others have said that they do not have it. */
  private wake(owner: string, count: number): void {
    for (const [job, { heldBy, isEarly }] of this.held.of(owner, count)) {
      job.only = heldBy;
      job.isEarly = isEarly;
      this.lineUp(job);
    }
  }

  private tryAll(job: Job): void {
    job.only = undefined;
    job.isEarly = false;
    job.heldUntil = undefined;
    this.lineUp(job);
  }

  private wait(job: Job, delayMs: number): void {
    job.due = this.deps.clock.monotonic() + delayMs;
    job.heldUntil = undefined;
    if (delayMs <= 0) this.lineUp(job);
    else job.cancelWait = this.deps.clock.after(delayMs, () => this.lineUp(job));
  }

  private lineUp(job: Job): void {
    if (job.running || job.dropped || this.stopped) return;
    job.cancelWait?.();
    job.cancelWait = undefined;
    this.held.remove(job);
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
    const outcome = await this.deps.fetch(job.item, job.only).catch((cause) => this.failed(cause));
    this.lines.finish(kind);
    job.running = false;
    if (!job.dropped && !this.stopped) this.goOn(job, outcome, kind);
    this.pump();
  }

  private goOn(job: Job, outcome: Outcome | Held, kind: Kind): void {
    const { only, isEarly } = job;
    const next = [...job.next];
    job.next.clear();
    job.only = undefined;
    job.isEarly = false;
    const isHeld = typeof outcome === 'object';
    if (!isHeld) job.announcedBy.clear();
    if (job.wantedMeanwhile && only !== undefined && (isHeld || outcome === 'missing')) {
      job.kind = 'new';
      this.tryAll(job);
    } else if (isHeld) this.hold(job, { ...outcome, isEarly });
    else if (outcome === 'missing' && isEarly) this.waitOn(job);
    else this.settle(job, outcome, kind);
    for (const from of next) this.ask(job.item, from);
  }

  /** No attempt: it goes on when a member has fewer to answer. */
  private hold(job: Job, onHold: OnHold): void {
    const now = this.deps.clock.monotonic();
    if (job.wantedMeanwhile) job.kind = 'new';
    if (job.heldUntil === undefined && !onHold.isEarly) job.due = now + holdMs(job.holds++);
    job.heldUntil ??= job.due;
    this.held.add(job, onHold);
    const waitMs = Math.max(0, job.heldUntil - now);
    job.cancelWait = this.deps.clock.after(waitMs, () => this.tryHeld(job, onHold));
    this.lookSoon();
  }

  /** What all were asked for is no longer new: thousands of such items could else delay new ones. */
  private tryHeld(job: Job, { isEarly }: OnHold): void {
    this.held.remove(job);
    if (job.kind === 'new' && !isEarly) job.kind = 'pending';
    this.tryAll(job);
  }

  private lookSoon(): void {
    this.cancelLook ??= this.deps.clock.after(LOOK_MS, () => {
      this.cancelLook = undefined;
      for (const [owner, count] of this.deps.free()) this.wake(owner, count);
      if (this.held.size > 0) this.lookSoon();
    });
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
