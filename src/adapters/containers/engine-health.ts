/** Watches whether the engine answers, and acts when it does again after it did not. */
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Engine } from './engine.ts';
import { reasonOf } from './failures.ts';

export interface EngineHealth {
  /** Why the engine cannot be used; undefined while it answers. */
  problem(): string | undefined;
  /** A call has failed: looks at once. */
  suspect(): void;
  close(): void;
}

const LOOK_MS = 5000;
const LOOK_AWAY_MS = 1000;

export function watchEngine(
  host: string,
  onReturn: () => Promise<void>,
  { engine, clock, log }: { readonly engine: Engine; readonly clock: Clock; readonly log: Log },
): EngineHealth {
  let problem: string | undefined;
  let isLooking = false;
  let isClosed = false;
  let cancel = clock.after(LOOK_MS, () => void look());

  async function look(): Promise<void> {
    if (isLooking || isClosed) return;
    isLooking = true;
    cancel();
    try {
      await engine.negotiate();
      if (problem !== undefined) {
        await onReturn();
        log.info('engine.returned', { host });
      }
      problem = undefined;
    } catch (cause) {
      if (problem === undefined && !isClosed)
        log.error('engine.away', { host, why: reasonOf(cause) });
      problem = `the container engine at ${host} does not answer: ${reasonOf(cause)}`;
    }
    isLooking = false;
    const pauseMs = problem === undefined ? LOOK_MS : LOOK_AWAY_MS;
    if (!isClosed) cancel = clock.after(pauseMs, () => void look());
  }

  return {
    problem: () => problem,
    suspect: () => void look(),
    close() {
      isClosed = true;
      cancel();
    },
  };
}
