/**
 * Clients whose questions have cost a store inside the process its thread (data-service.md#long-queries).
 * Each has to wait before its next long question, twice as long each time, so a few of them cannot
 * keep the store recovering.
 */
import { apiError } from '../../base/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';

export interface SlowClients {
  /** Throws ApiError while the client has to wait. */
  admit(client: string): void;
  /** A question of the client has ended the thread. */
  timedOut(client: string): void;
}

const REST_MS = 30_000;
const REST_MS_MAX = 3_600_000;
/** Clients that are remembered. */
const CLIENTS_MAX = 10_000;

interface Rest {
  readonly until: number;
  readonly ms: number;
}

export function createSlowClients(clock: Pick<Clock, 'monotonic'>): SlowClients {
  const rests = new BoundedCache<string, Rest>(CLIENTS_MAX);
  return {
    admit(client) {
      const rest = rests.get(client);
      if (rest !== undefined && rest.until > clock.monotonic()) throw apiError('TooManyRequests');
    },
    timedOut(client) {
      const now = clock.monotonic();
      const before = rests.get(client);
      // Questions that began together cost one rest.
      if (before !== undefined && before.until > now) return;
      const isRecent = before !== undefined && now - before.until < REST_MS_MAX;
      const ms = isRecent ? Math.min(REST_MS_MAX, before.ms * 2) : REST_MS;
      rests.set(client, { until: now + ms, ms });
    },
  };
}
