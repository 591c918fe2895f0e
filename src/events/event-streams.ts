/**
 * GET /events: the events of the chain to many clients. Clients with the same filter at the same
 * place share the text, so an event is judged and printed once for all of them.
 */

import { latin1 } from '../base/bytes.ts';
import type { HttpStream } from '../base/http.ts';
import type { Clock } from '../base/ports.ts';
import type { HeaderRow } from '../block/header-row.ts';
import { BoundedCache } from '../concurrency/bounded-cache.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import type { ChainEvent, ChainFeed } from './chain-feed.ts';
import type { EventFilter } from './event-filter.ts';
import { arrivedText, resultText, transactionText } from './event-json.ts';
import { eventText, FILLER, firstEvent, placeEvent, rollbackEvent } from './event-text.ts';
import { type NamedPlace, type Place, placeIn, placeText } from './place.ts';
import {
  type Advance,
  BEAT_MS,
  createStreams,
  type Sink,
  type StreamReader,
  type StreamsOptions,
} from './streams.ts';

export interface EventRequest {
  readonly filter: EventFilter;
  /** The filter as a text: clients with equal ones share their events. */
  readonly filterText: string;
  /** Whose streams are counted together. */
  readonly client: string;
  /** Behind an event; before the block at a height; undefined: behind all that has happened. */
  readonly from: NamedPlace | number | undefined;
  /** False: the stream ends where nothing more has happened. */
  readonly follows: boolean;
}

export interface EventStreams {
  /** Throws ApiError Overloaded where too many streams are open. */
  open(request: EventRequest): { readonly first: string; readonly stream: HttpStream };
  /** Streams that are open. */
  count(): number;
  /** Ends all streams. */
  stop(): Promise<void>;
}

export interface EventStreamsDeps {
  readonly feed: ChainFeed;
  readonly clock: Clock;
  /** A header, printed. */
  readonly headerText: (height: number, row: HeaderRow) => string;
}

/** A page ends behind the event that makes it so long. */
const PAGE_CHARS = 128 * 1024;
/** Pages that are kept for other readers; most of them are much shorter than a whole one. */
const PAGES_MAX = 64;
const HEADERS_MAX = 16;

interface Page {
  readonly text: string;
  readonly place: Place;
}

export function createEventStreams(
  options: StreamsOptions,
  { feed, clock, headerText }: EventStreamsDeps,
): EventStreams {
  const { scheme } = feed.view;
  /** By place and filter; the oldest is the first. */
  const pages = new Map<string, Promise<Page | undefined>>();
  /** By block id: of the latest blocks. */
  const headers = new BoundedCache<string, string>(HEADERS_MAX);
  let removals = feed.removals();

  const streams = createStreams<true>(options, {
    clock,
    async begin() {
      return true;
    },
    pollMs: () => BEAT_MS,
    failed(cause) {
      throw cause;
    },
    idle: () => pages.clear(),
  });
  const endListening = feed.listen(streams.ring);

  async function read(from: Place, filter: EventFilter): Promise<Page | undefined> {
    const slice = new TimeSlice(clock);
    let place = from;
    let text = '';
    for (;;) {
      const following = await feed.next(place, filter);
      if (following === undefined) return undefined;
      for (const event of following.events) {
        text += textOf(event);
        if (text.length >= PAGE_CHARS) return { text, place: event.place };
        if (slice.isOver()) await slice.yield();
      }
      ({ place } = following);
      const isRolledBack = place.height < from.height;
      if (isRolledBack || slice.isOver() || feed.isEnd(place, filter)) return { text, place };
    }
  }

  function textOf(event: ChainEvent): string {
    const { kind, place } = event;
    const id = placeText(place);
    if (kind === 'rollback') return rollbackEvent(place.height, id);
    return eventText(kind, id, jsonOf(event));
  }

  function jsonOf(event: Exclude<ChainEvent, { kind: 'rollback' }>): string {
    const { height } = event.place;
    switch (event.kind) {
      case 'transaction':
        return transactionText(event.tx, height, scheme);
      case 'contractResult':
        return resultText(event.tx, height, scheme);
      case 'policyData':
        return arrivedText(event.item);
      case 'block':
        return printedHeader(event);
    }
  }

  function printedHeader({ place, row }: ChainEvent & { kind: 'block' }): string {
    const key = latin1(place.id);
    const text = headers.get(key) ?? headerText(place.height, row);
    headers.set(key, text);
    return text;
  }

  function sharedPage(place: Place, { filter, filterText }: EventRequest) {
    if (removals !== feed.removals()) {
      // Pages may have blocks that are gone.
      pages.clear();
      removals = feed.removals();
    }
    const key = `${placeText(place)} ${filterText}`;
    const known = pages.get(key);
    if (known !== undefined) return known;
    const page = read(place, filter);
    pages.set(key, page);
    if (pages.size > PAGES_MAX) pages.delete(pages.keys().next().value!);
    // One without an end is asked again when more has come.
    const forget = (): void => void pages.delete(key);
    page.then((found) => {
      if (found === undefined || found.place === place) forget();
    }, forget);
    return page;
  }

  function reader(request: EventRequest, from: Place, sink: Sink): StreamReader<true> {
    let place = from;
    let told = from;
    const send = (text: string): void => {
      told = place;
      sink(text);
    };
    return {
      async advance(_round, signal): Promise<Advance> {
        const page = await sharedPage(place, request);
        if (signal.aborted) return 'waits';
        if (page === undefined) return 'lost';
        ({ place } = page);
        if (page.text !== '') send(page.text);
        if (!feed.isEnd(place, request.filter)) return 'more';
        return request.follows ? 'waits' : 'done';
      },
      beat: () => send(told === place ? FILLER : placeEvent(placeText(place))),
    };
  }

  function startOf(from: EventRequest['from']): Place | undefined {
    if (from === undefined) return feed.end();
    if (typeof from === 'number') return feed.before(from) ?? feed.end();
    return placeIn(feed.view, from);
  }

  /** The id of a place after a rollback comes with the event that tells of the rollback. */
  function beginning(from: EventRequest['from'], place: Place | undefined): string {
    const isRolledBack =
      typeof from === 'object' && place !== undefined && place.height < from.height;
    if (!isRolledBack) return firstEvent(place && placeText(place));
    return firstEvent(undefined) + rollbackEvent(place.height, placeText(place));
  }

  return {
    open(request) {
      const { client, from } = request;
      const opened = streams.admit({ client, catchesUp: from !== undefined });
      const start = startOf(from);
      const stream = opened.stream(
        start === undefined ? 'place' : (sink) => reader(request, start, sink),
      );
      return { first: beginning(from, start), stream };
    },
    count: streams.count,
    async stop() {
      endListening();
      await streams.stop();
      pages.clear();
    },
  };
}
