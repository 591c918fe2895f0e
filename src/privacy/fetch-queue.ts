/**
 * The items that this node has to fetch, and when it tries (privacy.md#fetching,
 * privacy.md#exchange-between-nodes).
 *
 *   new        just bound by a block: tried at once, or as soon as a peer announces it
 *   pending    tried before: again after a while, each time a third longer
 *   lost       tried too often: again every ten minutes, in any order, and when a client asks for it
 *
 * Invariants: an item is fetched once at a time; the rest of a long list waits on disk; a dropped
 * item or a stopped queue leaves no timer.
 */
import { isOurs } from '../base/assert.ts';
import type { Clock, Log, Random } from '../base/ports.ts';
import { afterAttempt, type Outcome, type RetryOptions } from './after-attempt.ts';
import { type Backlog, FIRST_ROW } from './fetch-backlog.ts';
import { type ItemId, itemKey, itemOfKey } from './item-id.ts';
import { type Kind, TransferLines } from './transfer-lines.ts';

export interface FetchQueueOptions extends RetryOptions {
  /**
   * Transfers at a time; those of pending items take at most half of them, those of lost ones a
   * quarter.
   */
  readonly parallelism: number;
  readonly lostEveryMs: number;
}

export interface FetchQueuePorts {
  readonly backlog: Backlog;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly fetch: (item: ItemId) => Promise<Outcome>;
  /** Called when an item has been tried so often that it counts as lost. */
  readonly onLost: (item: ItemId) => void;
}

/** Items in memory by kind; the rest of a long list waits on disk. */
export interface QueueSizes extends Readonly<Record<Kind, number>> {
  readonly transfers: number;
}

export interface FetchQueue {
  sizes(): QueueSizes;
  /** A new item, to be tried after `delayMs`. */
  add(item: ItemId, delayMs: number): void;
  /** A client asks for the item: it is tried at once, even if it is lost. */
  want(item: ItemId): void;
  /** Tries an item at once that waits for its next attempt. */
  retryNow(item: ItemId): void;
  retryAllNow(isNearer: (item: ItemId) => boolean): void;
  drop(item: ItemId): void;
  /** Tries the items left from the last stop. */
  resume(): Promise<void>;
  /** Resolves when nothing is being fetched. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

interface Job {
  readonly item: ItemId;
  readonly key: string;
  kind: Kind;
  failures: number;
  /** Undefined while the item is being fetched or queued. */
  cancelWait: (() => void) | undefined;
  running: boolean;
  dropped: boolean;
}

/** Jobs in memory; about half a kilobyte each. */
const JOBS_MAX = 5_000;
const ROW_BYTES = 64;

export function createFetchQueue(options: FetchQueueOptions, ports: FetchQueuePorts): FetchQueue {
  const { backlog, clock, log, random } = ports;
  const jobs = new Map<string, Job>();
  const lines = new TransferLines<Job>(options.parallelism);
  const fetching = new Set<Promise<void>>();
  /** There are rows on disk without a job. */
  let more = false;
  let loading = false;
  let stopped = false;
  let cancelLost = clock.after(options.lostEveryMs, tryLost);

  function enlist(item: ItemId, kind: Kind, delayMs: number): Job | undefined {
    const key = itemKey(item);
    const known = jobs.get(key);
    if (known !== undefined || stopped) return known;
    if (jobs.size >= JOBS_MAX) {
      more ||= kind !== 'lost';
      return undefined;
    }
    const job = newJob(key, kind, kind === 'lost' ? options.attemptsMax - 1 : 0);
    jobs.set(key, job);
    wait(job, delayMs);
    return job;
  }

  function wait(job: Job, delayMs: number): void {
    if (delayMs <= 0) lineUp(job);
    else job.cancelWait = clock.after(delayMs, () => lineUp(job));
  }

  function lineUp(job: Job): void {
    if (job.running || job.dropped || stopped) return;
    job.cancelWait?.();
    job.cancelWait = undefined;
    lines.add(job);
    pump();
  }

  function pump(): void {
    while (!stopped) {
      const job = lines.begin();
      if (job === undefined) return;
      const done = run(job).finally(() => fetching.delete(done));
      fetching.add(done);
    }
  }

  async function run(job: Job): Promise<void> {
    const { kind } = job;
    job.running = true;
    const outcome = await ports.fetch(job.item).catch(failed);
    lines.finish(kind);
    job.running = false;
    if (!job.dropped && !stopped) settle(job, outcome, kind);
    pump();
  }

  function failed(cause: unknown): Outcome {
    if (isOurs(cause)) throw cause;
    log.error('privacy.fetch-failed', { why: String(cause) });
    return 'missing';
  }

  function settle(job: Job, outcome: Outcome, kind: Kind): void {
    const step = afterAttempt(outcome, { kind, failures: job.failures }, options);
    if (step.kind === 'again') {
      job.kind = 'pending';
      job.failures += 1;
      wait(job, step.delayMs);
      return;
    }
    if (step.kind === 'lost' && step.isFirst) ports.onLost(job.item);
    forget(job, step.kind === 'lost' ? 'lost' : undefined);
  }

  function forget(job: Job, state: 'lost' | undefined): void {
    jobs.delete(job.key);
    backlog.set(job.item, state);
    if (more && jobs.size < JOBS_MAX / 2) void load();
  }

  /** Makes jobs of the rows that have none. */
  async function load(): Promise<void> {
    if (loading || stopped) return;
    loading = true;
    await backlog.flush();
    if (stopped) return;
    const rows = backlog.list('pending', FIRST_ROW, 2 * JOBS_MAX);
    more = rows.length === 2 * JOBS_MAX;
    for (const item of rows) enlist(item, 'pending', 0);
    loading = false;
  }

  async function tryLost(): Promise<void> {
    cancelLost = clock.after(options.lostEveryMs, tryLost);
    await backlog.flush();
    if (stopped) return;
    const start = random.bytes(ROW_BYTES);
    const after = backlog.list('lost', start, JOBS_MAX);
    const before = backlog.list('lost', FIRST_ROW, JOBS_MAX - after.length);
    for (const item of [...after, ...before]) enlist(item, 'lost', 0);
  }

  return {
    sizes() {
      const counts = { new: 0, pending: 0, lost: 0 };
      for (const { kind } of jobs.values()) counts[kind]++;
      return { ...counts, transfers: lines.transfers };
    },
    add(item, delayMs) {
      backlog.set(item, 'pending');
      enlist(item, 'new', delayMs);
    },
    want(item) {
      backlog.set(item, 'pending');
      const job = enlist(item, 'new', 0);
      if (job === undefined) return;
      if (job.failures >= options.attemptsMax - 1) job.failures = 0;
      if (job.cancelWait !== undefined) lineUp(job);
    },
    retryNow(item) {
      const job = jobs.get(itemKey(item));
      if (job?.cancelWait !== undefined) lineUp(job);
    },
    retryAllNow(isNearer) {
      for (const job of jobs.values()) {
        if (job.cancelWait !== undefined && isNearer(job.item)) lineUp(job);
      }
    },
    drop(item) {
      const key = itemKey(item);
      backlog.set(itemOfKey(key), undefined);
      const job = jobs.get(key);
      if (job === undefined) return;
      job.dropped = true;
      job.cancelWait?.();
      lines.remove(job);
      jobs.delete(key);
    },
    resume: load,
    async idle() {
      while (fetching.size > 0) await Promise.all(fetching);
    },
    async stop() {
      stopped = true;
      cancelLost();
      for (const { cancelWait } of jobs.values()) cancelWait?.();
      await Promise.all(fetching);
    },
  };
}

function newJob(key: string, kind: Kind, failures: number): Job {
  return {
    // Copies, because callers pass views of whole transactions.
    item: itemOfKey(key),
    key,
    kind,
    failures,
    cancelWait: undefined,
    running: false,
    dropped: false,
  };
}
