/**
 * Whose image is fetched next. Creators take turns, one pull each, so that slow pulls of one hold up no
 * other. A pull may ask to be alone.
 */
import { contractLimits } from '../../../base/limits/contract-limits.ts';

export interface PullTurns {
  /**
   * Runs the work in its turn; `wasAlone` says whether no other work ran beside it so far. Rejects with
   * PullsBusy where too much waits, and with the reason of the signal where that aborts before the turn.
   */
  run<T>(of: PullRequest, work: (wasAlone: () => boolean) => Promise<T>): Promise<T>;
}

export interface PullRequest {
  readonly creator: string;
  readonly isAlone: boolean;
  readonly signal: AbortSignal;
}

/** Nothing has failed: it may be asked for again. */
export class PullsBusy extends Error {
  override name = 'PullsBusy';
}

interface Waiting {
  readonly isAlone: boolean;
  begin(): void;
}

const RUNNING_MAX = contractLimits.pulls.value;
const WAITING_MAX = contractLimits.pullsWaiting.value;
export const WAITING_OF_ONE_MAX = contractLimits.pullsWaitingOfOne.value;

export function createPullTurns(): PullTurns {
  /** In the order of the turns: whose pull has ended last comes last. */
  const queues = new Map<string, Waiting[]>();
  const running = new Map<string, { wasAlone: boolean; readonly isAlone: boolean }>();
  let waiting = 0;

  function remove(creator: string, one: Waiting): void {
    const left = (queues.get(creator) ?? []).filter((other) => other !== one);
    if (left.length === 0) queues.delete(creator);
    else queues.set(creator, left);
    waiting--;
  }

  function serve(): void {
    for (const [creator, [first]] of [...queues]) {
      if (running.size >= RUNNING_MAX || [...running.values()].some(({ isAlone }) => isAlone))
        return;
      if (running.has(creator) || first === undefined) continue;
      // It is next, so nothing else begins before it.
      if (first.isAlone && running.size > 0) return;
      remove(creator, first);
      first.begin();
    }
  }

  function turn({ creator, isAlone, signal }: PullRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const one: Waiting = {
        isAlone,
        begin() {
          signal.removeEventListener('abort', leave);
          for (const other of running.values()) other.wasAlone = false;
          running.set(creator, { wasAlone: running.size === 0, isAlone });
          resolve();
        },
      };
      const leave = (): void => {
        remove(creator, one);
        reject(signal.reason);
        serve();
      };
      signal.addEventListener('abort', leave, { once: true });
      queues.set(creator, [...(queues.get(creator) ?? []), one]);
      waiting++;
      serve();
    });
  }

  return {
    async run(of, work) {
      of.signal.throwIfAborted();
      const own = queues.get(of.creator)?.length ?? 0;
      if (own >= WAITING_OF_ONE_MAX || waiting >= WAITING_MAX) throw new PullsBusy();
      await turn(of);
      const state = running.get(of.creator)!;
      try {
        return await work(() => state.wasAlone);
      } finally {
        running.delete(of.creator);
        const left = queues.get(of.creator);
        queues.delete(of.creator);
        if (left !== undefined) queues.set(of.creator, left);
        serve();
      }
    },
  };
}
