/**
 * The stream of new transactions (data-service.md#stream). Readers at the end of the chain take turns,
 * so however many they are, they keep one connection to the store busy. A reader that catches up, or
 * whose filter takes long, has its turns apart from them, beside a few others of its kind.
 *
 * The crawler notifies of every batch. Where the store gives no notifications (a standby), or they
 * get lost, the store is asked now and then.
 */
import { DatabaseError, type Listener } from '../../base/database.ts';
import { ApiError, apiError } from '../../base/errors.ts';
import type { HttpStream, HttpStreamClient } from '../../base/http.ts';
import type { Clock, Log } from '../../base/ports.ts';
import { costsThread, isTooSlow } from '../api/reading.ts';
import type { DataServices } from '../api/services.ts';
import { CHAIN_CHANNEL } from '../schema/notices.ts';
import { knowsRemoval, type LastPlace, lastPlace, type Place, readPlace } from './chain-place.ts';
import { type EndReason, endEvent, FILLER, firstEvent } from './event-text.ts';
import { type Advance, type RoundPages, type StreamReader, streamReader } from './stream-reader.ts';
import type { StreamRequest, TransactionStreams } from './stream-service.ts';

export interface StreamsOptions {
  readonly readersMax: number;
  readonly readersOfClientMax: number;
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
/** A turn that takes longer is ended, and taken apart from those of the others. */
const TURN_MS = 250;
/** Turns apart at a time, one of a client: slow filters of one keep no other one waiting. */
const APART_MAX = 2;

interface Member {
  /** Undefined until the beginning of the answer was sent. */
  reader: StreamReader | undefined;
  client: HttpStreamClient | undefined;
  /** When something was written last, or the client was found to take nothing. */
  wroteAt: number;
  readonly clientName: string;
  /** Its turns are apart from those of the others. */
  isApart: boolean;
  /** Ends the turn that it has now. */
  turn: AbortController | undefined;
}

export function createTransactionStreams(
  { readersMax, readersOfClientMax }: StreamsOptions,
  { services, log }: StreamsDeps,
): TransactionStreams {
  const { clock } = services;
  const members = new Set<Member>();
  const alarm = createAlarm(clock);
  let listener: Listener | undefined;
  let listenedAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  let running: Promise<void> | undefined;
  let cancelBeats = (): void => {};
  const turns = new Set<Promise<void>>();
  /** Clients of which a reader has a turn apart now. */
  const apart = new Set<string>();

  /** A timer of their own: no query holds beats up. */
  function beats(): void {
    for (const member of [...members]) keepAlive(member);
    cancelBeats = members.size === 0 ? () => {} : clock.after(BEAT_MS / 4, beats);
  }

  function end(member: Member, reason: EndReason): void {
    members.delete(member);
    member.turn?.abort();
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
      await round().catch((cause: unknown) => {
        // The store is away: the readers wait for it, as the whole service does.
        if (!(cause instanceof ApiError) && !(cause instanceof DatabaseError)) throw cause;
      });
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

  /** One turn of each reader; those apart begin theirs, as far as there are places. */
  async function round(): Promise<void> {
    const last = await lastPlace(services);
    const pages: RoundPages = new Map();
    for (const member of [...members]) {
      const { reader } = member;
      if (reader?.isReady() !== true || member.turn !== undefined) continue;
      if (!member.isApart) await shortTurn(member, reader, last, pages);
      else if (apart.size < APART_MAX && !apart.has(member.clientName) && members.has(member)) {
        takeApart(member, reader, last);
      }
    }
  }

  function takeApart(member: Member, reader: StreamReader, last: LastPlace): void {
    const { clientName } = member;
    // The client that has waited longest is the next, and of its readers the one that has.
    const own = [...members].filter((other) => other !== member && other.clientName === clientName);
    for (const one of [...own, member]) {
      members.delete(one);
      members.add(one);
    }
    apart.add(clientName);
    void begin(member, reader, last, new Map()).then(() => {
      apart.delete(clientName);
      alarm.ring();
    });
  }

  async function shortTurn(
    member: Member,
    reader: StreamReader,
    last: LastPlace,
    pages: RoundPages,
  ) {
    let cancel = (): void => {};
    const late = new Promise<void>((resolve) => {
      cancel = clock.after(TURN_MS, resolve);
    });
    const turn = begin(member, reader, last, pages);
    await Promise.race([turn, late]);
    cancel();
    if (member.turn === undefined) return;
    member.isApart = true;
    member.turn.abort();
  }

  /** Resolves when the turn is over; never rejects but where the program is wrong. */
  function begin(member: Member, reader: StreamReader, last: LastPlace, pages: RoundPages) {
    member.turn = new AbortController();
    const { signal } = member.turn;
    const began = clock.monotonic();
    const turn = turnOf(member, reader, last, pages, signal).then((outcome) => {
      member.turn = undefined;
      turns.delete(turn);
      if (outcome === 'lost') end(member, 'place');
      // An ended turn says nothing about how far its reader is.
      const isSlow = clock.monotonic() - began > TURN_MS;
      if (!signal.aborted) member.isApart = outcome === 'more' || isSlow;
      if (outcome === 'more' || signal.aborted) alarm.ring();
    });
    turns.add(turn);
    return turn;
  }

  async function turnOf(
    member: Member,
    reader: StreamReader,
    last: LastPlace,
    pages: RoundPages,
    signal: AbortSignal,
  ): Promise<Advance> {
    try {
      return await reader.advance(last, pages, signal);
    } catch (cause) {
      if (signal.aborted) return 'waits';
      const isSlow = isTooSlow(cause);
      // Another reader has shared a query that was ended, or the store is away: it is asked again.
      if (cause instanceof ApiError && !isSlow) {
        member.isApart = true;
        return 'waits';
      }
      if (!isSlow && !(cause instanceof DatabaseError)) throw cause;
      if (isSlow) costsThread(services, member.clientName);
      log.warn('stream.failed', { why: (cause as Error).message });
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
    }
  }

  const noted = (member: Member, client: HttpStreamClient): HttpStreamClient => ({
    ...client,
    write(text) {
      member.wroteAt = clock.monotonic();
      return client.write(text);
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

  function streamOf(member: Member, request: StreamRequest, place: Place | undefined): HttpStream {
    return {
      filler: FILLER,
      begin(client) {
        member.client = client;
        if (isStopped) end(member, 'stopping');
        else if (place === undefined) end(member, 'place');
        else member.reader = streamReader(request, place, noted(member, client), services);
        alarm.ring();
      },
      ready() {
        member.reader?.becameReady();
        member.wroteAt = clock.monotonic();
        alarm.ring();
      },
      closed() {
        members.delete(member);
        member.turn?.abort();
      },
    };
  }

  return {
    async open(request) {
      const ofClient = [...members].filter(({ clientName }) => clientName === request.client);
      const isFull = members.size >= readersMax || ofClient.length >= readersOfClientMax;
      if (isStopped || isFull) throw apiError('Overloaded');
      services.slow.admit(request.client);
      const member: Member = {
        reader: undefined,
        client: undefined,
        wroteAt: clock.monotonic(),
        clientName: request.client,
        isApart: request.lastId !== '',
        turn: undefined,
      };
      members.add(member);
      try {
        const place = await placeFrom(request.lastId);
        start();
        cancelBeats();
        beats();
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
      cancelBeats();
      alarm.ring();
      await running;
      await Promise.all(turns);
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
