/** Checks all entries at intervals, and removes those that have expired or that the head refuses. */
import { unlessOurs } from '../../base/assert.ts';
import { apiError } from '../../base/errors.ts';
import { createScriptTime, type ScriptTime } from '../../chain/apply/script-time.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import type { PoolEntry } from '../entries/entry.ts';
import type { RevalidatorDeps } from '../reorg/revalidator.ts';
import { hadNoTime } from './entry-trial.ts';

export interface CleanupOptions {
  readonly expireMs: number;
  readonly cleanupMs: number;
}

export interface CleanupPorts extends RevalidatorDeps {
  /** Called at the end of each round, which waits for it. */
  readonly afterwards: () => Promise<void>;
}

/** Returns a function that stops it. */
export function startCleanup(options: CleanupOptions, ports: CleanupPorts): () => void {
  const { clock, log, entries, candidates, trial, evictions } = ports;
  let stopped = false;
  let cancel = clock.after(options.cleanupMs, next);

  async function next(): Promise<void> {
    await round().catch(unlessOurs((why) => log.error('pool.check-failed', { why: String(why) })));
    if (!stopped) cancel = clock.after(options.cleanupMs, next);
  }

  async function round(): Promise<void> {
    const now = clock.now();
    const slice = new TimeSlice(clock);
    const scriptTime = createScriptTime(clock);
    for (const entry of [...entries.inOrder()]) {
      if (stopped) return;
      if (entry.removed) continue;
      if (now - entry.timestamp > options.expireMs) {
        evictions.evict(
          entry,
          apiError('Mistiming', `Transaction ts ${entry.timestamp} is too old`),
        );
        continue;
      }
      tryAgain(entry, scriptTime);
      if (slice.isOver()) await slice.yield();
    }
    await ports.afterwards();
  }

  /** The revalidator judges the entries in doubt (revalidator.ts). */
  function tryAgain(entry: PoolEntry, scriptTime: ScriptTime): void {
    if (candidates.has(entry)) return;
    const problem = trial.problemOf(entry, scriptTime);
    if (problem !== undefined && !hadNoTime(problem)) evictions.drop(entry, problem);
  }

  return () => {
    stopped = true;
    cancel();
  };
}
