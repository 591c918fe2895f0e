/**
 * Queries that may take long: fewer at a time than there are connections, so that ids, pages and
 * health are answered beside them; and fair among clients, so that none takes all places. What is
 * asked of the node for clients has places of its own.
 */
import { apiError } from '../../base/errors.ts';
import { Counts } from '../../concurrency/counts.ts';
import { FairSemaphore } from '../../concurrency/fair-semaphore.ts';

export interface HeavyQueries {
  /** Runs the work when it is the client's turn. Rejects with ApiError where too many wait. */
  run<T>(client: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
}

interface Waiting {
  readonly client: string;
  readonly start: () => void;
}

/** Beside those that run. */
interface WaitingBounds {
  readonly waitingMax: number;
  readonly waitingOfClientMax: number;
}

const WAITING: WaitingBounds = { waitingMax: 1000, waitingOfClientMax: 16 };

/** Places for a pool of so many connections. */
export const heavyPlaces = (connections: number): number => Math.max(1, Math.ceil(connections / 2));

export function createHeavyQueries(
  places: number,
  { waitingMax, waitingOfClientMax }: WaitingBounds = WAITING,
): HeavyQueries {
  let slots = new FairSemaphore<Waiting>(places, true);
  const waitingOf = new Counts<string>();
  let waiting = 0;

  function count(client: string, change: number): void {
    waiting += change;
    waitingOf.add(client, change);
  }

  function startNext(): void {
    for (let one = slots.next(); one !== undefined; one = slots.next()) {
      count(one.client, -1);
      slots.take(one.client);
      one.start();
    }
  }

  return {
    async run(client, signal, work) {
      if (waiting >= waitingMax || waitingOf.of(client) >= waitingOfClientMax) {
        throw apiError('Overloaded');
      }
      await new Promise<void>((start) => {
        count(client, 1);
        slots.add(client, { client, start }, false);
        startNext();
      });
      try {
        // A client that has gone gives its place to the next one at once.
        if (signal?.aborted === true) throw apiError('Overloaded');
        return await work();
      } finally {
        slots.release(client);
        // It remembers every client that it has met.
        if (slots.taken === 0 && waiting === 0) slots = new FairSemaphore(places, true);
        startNext();
      }
    },
  };
}
