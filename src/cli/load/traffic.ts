/** Connections to some nodes, each of which sends its next request when it has an answer. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Due, type Exchange, exchange, type Place } from './connection.ts';

export interface TrafficOptions {
  /** Spread evenly over the places. */
  readonly connections: number;
  /** A connection that ends is opened again, until it has ended so often without an answer. */
  readonly failuresMax: number;
}

const REOPEN_MS = 100;

/**
 * `exchangeOf` is called once for each connection. Resolves when none has more to send, with the
 * places of those that were given up.
 */
export async function drive<R extends Due>(
  places: readonly Place[],
  exchangeOf: (place: Place) => Exchange<R>,
  { connections, failuresMax }: TrafficOptions,
): Promise<readonly Place[]> {
  const givenUp: Place[] = [];

  async function keepOpen(place: Place): Promise<void> {
    const { next, answered, lost } = exchangeOf(place);
    let failures = 0;
    let isLost: boolean;
    do {
      if (failures > 0) await pause(REOPEN_MS);
      isLost = false;
      await exchange<R>(place, {
        next,
        answered(request, answer, now) {
          failures = 0;
          answered(request, answer, now);
        },
        lost(request, why) {
          isLost = true;
          failures++;
          lost(request, why);
        },
      });
    } while (isLost && failures < failuresMax);
    if (isLost) givenUp.push(place);
  }

  const ends = Array.from({ length: connections }, (_, i) => places[i % places.length]!);
  await Promise.all(ends.map(keepOpen));
  return givenUp;
}
