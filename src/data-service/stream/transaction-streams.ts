/**
 * The stream of new transactions (data-service.md#stream). All readers of a server take turns, so
 * however many they are, they keep one connection to the store busy.
 *
 * The crawler notifies of every batch. Where the store gives no notifications (a standby), or they
 * get lost, the store is asked now and then.
 */
import { DatabaseError, type Listener } from '../../base/database.ts';
import { ApiError, apiError } from '../../base/errors.ts';
import type { HttpStream, HttpStreamClient } from '../../base/http.ts';
import type { Clock, Log } from '../../base/ports.ts';
import type { DataServices } from '../api/services.ts';
import { CHAIN_CHANNEL } from '../schema/notices.ts';
import { knowsRemoval, type LastPlace, lastPlace, type Place, readPlace } from './chain-place.ts';
import { type EndReason, endEvent, FILLER, firstEvent } from './event-text.ts';
import { type Advance, type RoundPages, type StreamReader, streamReader } from './stream-reader.ts';
import type { StreamRequest, TransactionStreams } from './stream-service.ts';

export interface StreamsOptions {
  readonly readersMax: number;
}

export interface StreamsDeps {
  readonly services: DataServices;
  readonly log: Log;
}

/** The native server ends connections on which nothing was written for ten seconds. */
const BEAT_MS = 4000;
/** Where no notifications come. */
const POLL_MS = 1000;
const LISTEN_AGAIN_MS = 5000;
/** A client that has not taken a page by then is ended. */
const TAKE_MS_MAX = 5000;

interface Member {
  /** Undefined until the beginning of the answer was sent. */
  reader: StreamReader | undefined;
  client: HttpStreamClient | undefined;
  /** When something was written last, or the client was found to take nothing. */
  wroteAt: number;
}

export function createTransactionStreams(
  { readersMax }: StreamsOptions,
  { services, log }: StreamsDeps,
): TransactionStreams {
  const { clock } = services;
  const members = new Set<Member>();
  const alarm = createAlarm(clock);
  let listener: Listener | undefined;
  let listenedAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  let running: Promise<void> | undefined;

  function end(member: Member, reason: EndReason): void {
    members.delete(member);
    member.client?.end(endEvent(reason));
  }

  const isHearing = (): boolean => listener?.isLost() === false;

  async function listen(): Promise<void> {
    if (isHearing() || clock.monotonic() - listenedAt < LISTEN_AGAIN_MS) return;
    listenedAt = clock.monotonic();
    listener = await services
      .db()
      ?.listen(CHAIN_CHANNEL, alarm.ring)
      .catch(() => undefined);
  }

  async function run(): Promise<void> {
    while (!isStopped && members.size > 0) {
      await listen();
      const hasMore = await round().catch((cause: unknown) => {
        // The store is away: the readers wait for it, as the whole service does.
        if (cause instanceof ApiError || cause instanceof DatabaseError) return false;
        throw cause;
      });
      if (hasMore) continue;
      const isCalm = isHearing() && [...members].every(({ reader }) => reader?.isReady() === true);
      await alarm.wait(isCalm ? BEAT_MS : POLL_MS);
    }
  }

  function start(): void {
    if (running !== undefined || isStopped || members.size === 0) return;
    running = run().finally(() => {
      running = undefined;
      start();
    });
  }

  /** One turn of each reader; true where one of them has more to send. */
  async function round(): Promise<boolean> {
    for (const member of [...members]) keepAlive(member);
    const last = await lastPlace(services);
    const pages: RoundPages = new Map();
    let hasMore = false;
    for (const member of [...members]) {
      if (member.reader?.isReady() !== true) continue;
      const outcome = await turnOf(member, member.reader, last, pages);
      if (outcome === 'lost') end(member, 'place');
      hasMore ||= outcome === 'more' && member.reader.isReady();
    }
    return hasMore;
  }

  async function turnOf(
    member: Member,
    reader: StreamReader,
    last: LastPlace,
    pages: RoundPages,
  ): Promise<Advance> {
    try {
      const outcome = await reader.advance(last, pages);
      if (outcome === 'more') member.wroteAt = clock.monotonic();
      return outcome;
    } catch (cause) {
      const isSlow = cause instanceof ApiError && cause.entry === 'QueryTooSlow';
      if (!isSlow && !(cause instanceof DatabaseError)) throw cause;
      log.warn('stream.failed', { why: cause.message });
      end(member, 'query');
      return 'waits';
    }
  }

  function keepAlive(member: Member): void {
    const { reader, wroteAt } = member;
    const idleMs = clock.monotonic() - wroteAt;
    if (reader === undefined) return;
    if (!reader.isReady()) {
      if (idleMs >= TAKE_MS_MAX) end(member, 'slow');
    } else if (idleMs >= BEAT_MS / 2) {
      reader.beat();
      member.wroteAt = clock.monotonic();
    }
  }

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

  function streamOf(member: Member, request: StreamRequest, place: Place | undefined): HttpStream {
    return {
      filler: FILLER,
      begin(client) {
        member.client = client;
        if (isStopped) end(member, 'stopping');
        else if (place === undefined) end(member, 'place');
        else member.reader = streamReader(request, place, client, services);
        alarm.ring();
      },
      ready() {
        member.reader?.becameReady();
        member.wroteAt = clock.monotonic();
        alarm.ring();
      },
      closed: () => void members.delete(member),
    };
  }

  return {
    async open(request) {
      if (isStopped || members.size >= readersMax) throw apiError('Overloaded');
      const member: Member = { reader: undefined, client: undefined, wroteAt: clock.monotonic() };
      members.add(member);
      try {
        const place = await placeFrom(request.lastId);
        start();
        return { first: firstEvent(place), stream: streamOf(member, request, place) };
      } catch (cause) {
        members.delete(member);
        throw cause;
      }
    },
    count: () => members.size,
    async stop() {
      isStopped = true;
      for (const member of [...members]) end(member, 'stopping');
      alarm.ring();
      await running;
      await listener?.release().catch(() => undefined);
    },
  };
}

/** Ends a wait early; a ring between two waits ends the next one. */
function createAlarm(clock: Clock) {
  let hasRung = false;
  let wake = (): void => {};
  return {
    ring(): void {
      hasRung = true;
      wake();
    },
    async wait(ms: number): Promise<void> {
      if (!hasRung) {
        await new Promise<void>((resolve) => {
          const cancel = clock.after(ms, resolve);
          wake = () => {
            cancel();
            resolve();
          };
        });
      }
      hasRung = false;
    },
  };
}
