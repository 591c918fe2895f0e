/**
 * The stream of new transactions (data-service.md#stream). Readers at the end of the chain take turns,
 * so however many they are, they keep one connection to the store busy (events/streams.ts).
 *
 * The crawler notifies of every batch. Where the store gives no notifications (a standby), or they
 * get lost, the store is asked now and then.
 */
import { DatabaseError, type Listener } from '../../base/database.ts';
import { ApiError, apiError } from '../../base/errors.ts';
import type { Log } from '../../base/ports.ts';
import { firstEvent } from '../../events/event-text.ts';
import { BEAT_MS, createStreams, type StreamsOptions } from '../../events/streams.ts';
import { costsThread, isTooSlow } from '../api/reading.ts';
import type { DataServices } from '../api/services.ts';
import { CHAIN_CHANNEL } from '../schema/notices.ts';
import { knowsRemoval, lastPlace, type Place, placeText, readPlace } from './chain-place.ts';
import { type StreamRound, streamReader } from './stream-reader.ts';
import type { TransactionStreams } from './stream-service.ts';

export interface StreamsDeps {
  readonly services: DataServices;
  readonly log: Log;
}

/** Where no notifications come. */
const POLL_MS = 1000;
const LISTEN_AGAIN_MS = 5000;

export function createTransactionStreams(
  options: StreamsOptions,
  { services, log }: StreamsDeps,
): TransactionStreams {
  const { clock } = services;
  let listener: Listener | undefined;
  let listenedAt = Number.NEGATIVE_INFINITY;
  const isHearing = (): boolean => listener?.isLost() === false;

  async function listen(): Promise<void> {
    if (isHearing() || clock.monotonic() - listenedAt < LISTEN_AGAIN_MS) return;
    listenedAt = clock.monotonic();
    listener = await services
      .db()
      ?.listen(CHAIN_CHANNEL, () => streams.ring())
      .catch(() => undefined);
  }

  const streams = createStreams<StreamRound>(options, {
    clock,
    async begin() {
      await listen();
      try {
        return { last: await lastPlace(services), pages: new Map() };
      } catch (cause) {
        // The store is away: the readers wait for it, as the whole service does.
        if (!(cause instanceof ApiError) && !(cause instanceof DatabaseError)) throw cause;
        return undefined;
      }
    },
    pollMs: () => (isHearing() ? BEAT_MS : POLL_MS),
    failed(cause, clientName) {
      const isSlow = isTooSlow(cause);
      // Another reader has shared a query that was ended, or the store is away: it is asked again.
      if (cause instanceof ApiError && !isSlow) return 'apart';
      if (!isSlow && !(cause instanceof DatabaseError)) throw cause;
      if (isSlow) costsThread(services, clientName);
      log.warn('stream.failed', { why: (cause as Error).message });
      return 'query';
    },
  });

  /** Undefined where the store cannot know the place. Throws ApiError. */
  async function placeFrom(lastId: string): Promise<Place | undefined> {
    const last = await lastPlace(services);
    if (lastId === '') return last;
    const wanted = readPlace(lastId);
    if (wanted === undefined) {
      const problem = 'must be the id of an event, or an index';
      throw apiError('InvalidQuery').with({ validationErrors: { 'Last-Event-ID': problem } });
    }
    const { seq, removedAt = last.removedAt, mark = '' } = wanted;
    if (removedAt < last.removedAt && !(await knowsRemoval(removedAt, services))) return undefined;
    return { seq, removedAt, mark };
  }

  return {
    async open(request) {
      const { client, lastId } = request;
      const opened = streams.admit({ client, catchesUp: lastId !== '' });
      try {
        services.slow.admit(client);
        const place = await placeFrom(lastId);
        const stream = opened.stream(
          place === undefined ? 'place' : (send) => streamReader(request, place, send, services),
        );
        return { first: firstEvent(place && placeText(place)), stream };
      } catch (cause) {
        opened.release();
        throw cause;
      }
    },
    count: () => streams.count(),
    async stop() {
      await streams.stop();
      await listener?.release().catch(() => undefined);
    },
  };
}
