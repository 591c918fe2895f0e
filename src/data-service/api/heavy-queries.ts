/**
 * Queries that may take long: fewer at a time than there are connections, so that ids, pages and
 * health are answered beside them; and fair among clients, so that none takes all places.
 */
import { apiError } from '../../base/errors.ts';
import { createFairSlots } from '../../base/fair-slots.ts';

export interface HeavyQueries {
  /** Runs the work when it is the client's turn. Rejects with ApiError where too many wait. */
  run<T>(client: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
}

interface Waiting {
  readonly client: string;
  readonly start: () => void;
}

/** Of one client, beside those that run. */
const WAITING_OF_CLIENT_MAX = 16;
const WAITING_MAX = 1000;

/** Places for a pool of so many connections. */
export const heavyPlaces = (connections: number): number => Math.max(1, Math.ceil(connections / 2));

export function createHeavyQueries(places: number): HeavyQueries {
  let slots = createFairSlots<Waiting>(places, true);
  const waitingOf = new Map<string, number>();
  let waiting = 0;

  function count(client: string, change: number): void {
    waiting += change;
    const left = (waitingOf.get(client) ?? 0) + change;
    if (left === 0) waitingOf.delete(client);
    else waitingOf.set(client, left);
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
      if (waiting >= WAITING_MAX || (waitingOf.get(client) ?? 0) >= WAITING_OF_CLIENT_MAX) {
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
        if (slots.taken === 0 && waiting === 0) slots = createFairSlots(places, true);
        startNext();
      }
    },
  };
}
