/**
 * The stream of new transactions (data-service.md#stream). Readers at the end of the chain take turns,
 * so however many they are, they keep one connection to the store busy (events/streams.ts).
 *
 * The crawler notifies of every batch. Where the store gives no notifications (a standby), or they
 * get lost, the store is asked now and then.
 */
import { ApiError, apiError } from '../../base/errors.ts';
import { DatabaseError, type Listener } from '../../base/ports/database.ts';
import type { Log } from '../../base/ports/log.ts';
import { firstEvent } from '../../events/event-text.ts';
import { BEAT_MS, Streams, type StreamsOptions } from '../../events/streams.ts';
import { costsThread, isTooSlow } from '../api/reading.ts';
import type { DataServices } from '../api/services.ts';
import { CHAIN_CHANNEL } from '../schema/notices.ts';
import { knowsRemoval, lastPlace, type Place, placeText, readPlace } from './chain-place.ts';
import { type StreamRound, streamReader } from './stream-reader.ts';
import type { OpenedStream, StreamRequest, TransactionStreams } from './stream-service.ts';

export interface StreamsDeps {
  readonly services: DataServices;
  readonly log: Log;
}

/** Where no notifications come. */
const POLL_MS = 1000;
const LISTEN_AGAIN_MS = 5000;

export class TransactionStreamService implements TransactionStreams {
  private readonly deps: StreamsDeps;
  private readonly streams: Streams<StreamRound>;
  private listener: Listener | undefined;
  private listenedAt = Number.NEGATIVE_INFINITY;

  constructor(options: StreamsOptions, deps: StreamsDeps) {
    this.deps = deps;
    this.streams = new Streams<StreamRound>(options, {
      clock: deps.services.clock,
      begin: () => this.begin(),
      pollMs: () => (this.isHearing() ? BEAT_MS : POLL_MS),
      failed: (cause, clientName) => this.failed(cause, clientName),
    });
  }

  async open(request: StreamRequest): Promise<OpenedStream> {
    const { client, lastId } = request;
    const { services } = this.deps;
    const opened = this.streams.admit({ client, catchesUp: lastId !== '' });
    try {
      services.slow.admit(client);
      const place = await this.placeFrom(lastId);
      const stream = opened.stream(
        place === undefined ? 'place' : (send) => streamReader(request, place, send, services),
      );
      return { first: firstEvent(place && placeText(place)), stream };
    } catch (cause) {
      opened.release();
      throw cause;
    }
  }

  count(): number {
    return this.streams.count();
  }

  async stop(): Promise<void> {
    await this.streams.stop();
    await this.listener?.release().catch(() => undefined);
  }

  private async begin(): Promise<StreamRound | undefined> {
    await this.listen();
    try {
      return { last: await lastPlace(this.deps.services), pages: new Map() };
    } catch (cause) {
      // The store is away: the readers wait for it, as the whole service does.
      if (!(cause instanceof ApiError) && !(cause instanceof DatabaseError)) throw cause;
      return undefined;
    }
  }

  private async listen(): Promise<void> {
    const { services } = this.deps;
    const now = services.clock.monotonic();
    if (this.isHearing() || now - this.listenedAt < LISTEN_AGAIN_MS) return;
    this.listenedAt = now;
    this.listener = await services
      .db()
      ?.listen(CHAIN_CHANNEL, () => this.streams.ring())
      .catch(() => undefined);
  }

  private isHearing(): boolean {
    return this.listener?.isLost() === false;
  }

  private failed(cause: unknown, clientName: string): 'apart' | 'query' {
    const isSlow = isTooSlow(cause);
    // Another reader has shared a query that was ended, or the store is away: it is asked again.
    if (cause instanceof ApiError && !isSlow) return 'apart';
    if (!isSlow && !(cause instanceof DatabaseError)) throw cause;
    if (isSlow) costsThread(this.deps.services, clientName);
    this.deps.log.warn('stream.failed', { why: (cause as Error).message });
    return 'query';
  }

  /** Undefined where the store cannot know the place. Throws ApiError. */
  private async placeFrom(lastId: string): Promise<Place | undefined> {
    const { services } = this.deps;
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
}
