/**
 * GET /events: the events of the chain to many clients. Clients with the same filter at the same
 * place share the text, so an event is judged and printed once for all of them.
 */

import { latin1 } from '../base/bytes.ts';
import { eventLimits } from '../base/limits/event-limits.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { HttpStream } from '../base/ports/http.ts';
import type { HeaderRow } from '../block/header-row.ts';
import { BoundedCache } from '../concurrency/bounded-cache.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import { ByteRing } from './byte-ring.ts';
import type { ChainEvent, ChainFeed, TxEvent } from './chain-feed.ts';
import type { EventFilter } from './event-filter.ts';
import { arrivedText, resultText, transactionText } from './event-json.ts';
import {
  type EndReason,
  EVENT_TAIL,
  eventHead,
  FILLER,
  finalEvent,
  firstEvent,
  placeEvent,
  rollbackEvent,
} from './event-text.ts';
import { PageWriter } from './page-writer.ts';
import { type NamedPlace, type Place, placeIn, placeText } from './place.ts';
import { type Page, SharedPages } from './shared-pages.ts';
import {
  type Advance,
  BEAT_MS,
  type Sink,
  type StreamReader,
  Streams,
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
  /** Whether the client still has the right to listen; absent where everybody has it. */
  readonly mayListen?: (() => boolean) | undefined;
}

export interface EventStreamsDeps {
  readonly feed: ChainFeed;
  readonly clock: Clock;
  /** A header, printed. */
  readonly headerText: (height: number, row: HeaderRow) => string;
  readonly ended?: ((reason: EndReason) => void) | undefined;
  /** Undefined where nothing becomes final. */
  readonly final?: FinalBlocks | undefined;
}

export interface FinalBlocks {
  /** All blocks up to it stay; 0 where there is none yet. */
  height(): number;
  /** Called when it has changed. */
  listen(action: () => void): () => void;
}

/** The next round finds that it is over, so up to `BEAT_MS` come on top where nothing happens. */
const AHEAD_MS = eventLimits.ahead.value;
/** A page ends behind the event that makes it so long. */
const PAGE_BYTES = 128 * 1024;
const HEADERS_MAX = 16;
/** The memory is given back so long after the last reader has gone. */
const FORGET_MS = 60_000;
/** What some full blocks of transfers have; what is gone is printed again. */
const TEXTS_BYTES = 16 * 1024 * 1024;
const PAGES_BYTES = 8 * 1024 * 1024;

export class EventStreams {
  private readonly deps: EventStreamsDeps;
  private readonly streams: Streams<true>;
  private readonly ends: readonly (() => void)[];
  /** Read once for all readers. */
  private finalHeight: number;
  /** Of transactions and results. */
  private readonly texts = new ByteRing(TEXTS_BYTES);
  private readonly pageBytes = new ByteRing(PAGES_BYTES);
  private readonly pages = new SharedPages<Place>(
    ({ bytes }) => !(bytes instanceof Uint8Array) && this.pageBytes.has(bytes),
  );
  /** Those that no page uses now. */
  private readonly writers: PageWriter[] = [];
  /** By block id: of the latest blocks. */
  private readonly headers = new BoundedCache<string, string>(HEADERS_MAX);
  private cancelForget = (): void => {};
  /** Removals of blocks that the pages reflect. */
  private removals: number;

  constructor(options: StreamsOptions, deps: EventStreamsDeps) {
    const { feed, clock } = deps;
    this.deps = deps;
    this.removals = feed.removals();
    this.streams = new Streams<true>(options, {
      clock,
      async begin() {
        return true;
      },
      pollMs: () => BEAT_MS,
      failed(cause) {
        throw cause;
      },
      idle: () => this.rest(),
      ended: deps.ended ?? (() => {}),
    });
    const readFinal = (): number => deps.final?.height() ?? 0;
    // A switch of branches may change it as well.
    const tell = (): void => {
      this.finalHeight = readFinal();
      this.streams.ring();
    };
    this.finalHeight = readFinal();
    this.ends = [feed.listen(tell), deps.final?.listen(tell) ?? (() => {})];
  }

  /** Throws ApiError Overloaded where too many streams are open. */
  open(request: EventRequest): { readonly first: string; readonly stream: HttpStream } {
    const { client, from, follows } = request;
    const isAhead = follows && typeof from === 'object' && this.isAhead(from);
    const start = isAhead ? undefined : this.startOf(request);
    const opened = this.streams.admit({ client, catchesUp: from !== undefined });
    if (isAhead) {
      const stream = opened.stream((sink) => this.readerAhead(request, from, sink));
      return { first: firstEvent(undefined), stream };
    }
    const stream = opened.stream(
      start === undefined ? 'place' : (sink) => this.reader(request, start, sink),
    );
    return { first: beginning(from, start), stream };
  }

  /** Streams that are open. */
  count(): number {
    return this.streams.count();
  }

  /** Ends all streams. */
  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.streams.stop();
    this.cancelForget();
    this.forget();
  }

  /** A client that asks again and again takes no new memory each time. */
  private rest(): void {
    this.pages.clear();
    this.cancelForget();
    this.cancelForget = this.deps.clock.after(FORGET_MS, () => {
      if (this.count() === 0) this.forget();
    });
  }

  private forget(): void {
    this.pages.clear();
    this.texts.clear();
    this.pageBytes.clear();
    this.writers.length = 0;
  }

  private startOf({ from, filter }: EventRequest): Place | undefined {
    const { feed } = this.deps;
    const before = typeof from === 'number' ? feed.before(from) : undefined;
    const start = typeof from === 'object' ? placeIn(feed.view, from) : (before ?? feed.end());
    // How many confidential data the node has is not for everybody. A number that it has not reached
    // is of another node, or of an earlier data directory.
    const counts = filter.kinds.has('policyData') && start && start.arrival <= feed.end().arrival;
    return start && (counts ? start : { ...start, arrival: 0 });
  }

  private isAhead({ height }: NamedPlace): boolean {
    return height > this.deps.feed.end().height;
  }

  /**
   * A node that is behind the one that the client had before has removed nothing: it looks for the
   * place once its chain is as long, or has had the time to become so.
   */
  private readerAhead(request: EventRequest, named: NamedPlace, sink: Sink): StreamReader<true> {
    const { clock } = this.deps;
    const until = clock.monotonic() + AHEAD_MS;
    let reader: StreamReader<true> | undefined;
    return {
      advance: async (round, turn): Promise<Advance> => {
        if (reader !== undefined) return reader.advance(round, turn);
        if (request.mayListen?.() === false) return 'barred';
        if (this.isAhead(named) && clock.monotonic() < until) return 'waits';
        const start = this.startOf(request);
        if (start === undefined) return 'lost';
        reader = this.reader(request, start, sink);
        const id = placeText(start);
        sink(isBelow(start, named) ? rollbackEvent(start.height, id) : placeEvent(id));
        return 'more';
      },
      beat: () => (reader === undefined ? sink(FILLER) : reader.beat()),
    };
  }

  private reader(request: EventRequest, from: Place, sink: Sink): StreamReader<true> {
    const { feed } = this.deps;
    const { filter, follows, mayListen } = request;
    let place = from;
    let told = from;
    /** Removed blocks that others replace become final anew. */
    let toldFinal = 0;
    const send = (text: string | Uint8Array): void => {
      told = place;
      sink(text);
    };
    return {
      advance: async (_round, turn): Promise<Advance> => {
        if (mayListen?.() === false) return 'barred';
        let bytes: Uint8Array | undefined;
        if (!feed.isEnd(place, filter)) {
          const page = await this.sharedPage(place, request);
          if (turn.isAborted) return 'waits';
          if (page === undefined) return 'lost';
          bytes = this.bytesOf(page);
          if (bytes === undefined) return 'more';
          ({ place } = page);
        }
        const isEnd = feed.isEnd(place, filter);
        toldFinal = Math.min(toldFinal, place.height);
        if (isEnd && filter.kinds.has('final') && this.finalHeight > toldFinal) {
          toldFinal = this.finalHeight;
          const text = Buffer.from(finalEvent(toldFinal, placeText(place)));
          bytes = bytes === undefined ? text : Buffer.concat([bytes, text]);
        }
        if (bytes !== undefined && bytes.length > 0) send(bytes);
        if (!isEnd) return 'more';
        return follows ? 'waits' : 'done';
      },
      beat: () => send(told === place ? FILLER : placeEvent(placeText(place))),
    };
  }

  private sharedPage(place: Place, { filter, filterText }: EventRequest) {
    const { pages, deps } = this;
    const removals = deps.feed.removals();
    // Pages may have blocks that are gone.
    if (this.removals !== removals) pages.clear();
    this.removals = removals;
    const key = `${placeText(place)} ${filterText}`;
    const read = () => this.read(place, filter);
    const isWhole = (page: Page<Place>) =>
      page.place !== place && !(page.bytes instanceof Uint8Array);
    return pages.get(key, read, isWhole);
  }

  private async read(from: Place, filter: EventFilter): Promise<Page<Place> | undefined> {
    const writer = this.writers.pop() ?? new PageWriter();
    try {
      const place = await this.write(writer, from, filter);
      const bytes = writer.written();
      return place && { bytes: this.pageBytes.keep(bytes) ?? new Uint8Array(bytes), place };
    } finally {
      writer.clear();
      this.writers.push(writer);
    }
  }

  /** Undefined where others have taken the room of the page. */
  private bytesOf({ bytes }: Page<Place>): Uint8Array | undefined {
    return bytes instanceof Uint8Array ? bytes : this.pageBytes.get(bytes);
  }

  /** Resolves with the place behind the last event that was written. */
  private async write(
    page: PageWriter,
    from: Place,
    filter: EventFilter,
  ): Promise<Place | undefined> {
    const { feed, clock } = this.deps;
    const slice = new TimeSlice(clock);
    let place = from;
    for (;;) {
      const following = await feed.next(place, filter);
      if (following === undefined) return undefined;
      for (const event of following.events) {
        this.writeEvent(page, event);
        if (page.length >= PAGE_BYTES) return event.place;
        if (slice.isOver()) await slice.yield();
      }
      ({ place } = following);
      const isRolledBack = place.height < from.height;
      if (isRolledBack || slice.isOver() || feed.isEnd(place, filter)) return place;
    }
  }

  private writeEvent(page: PageWriter, event: ChainEvent): void {
    const { kind, place } = event;
    const id = placeText(place);
    if (kind === 'rollback') {
      page.text(rollbackEvent(place.height, id));
      return;
    }
    page.text(eventHead(kind, id));
    if (kind === 'transaction' || kind === 'contractResult') this.writeOnce(page, event);
    else page.text(this.jsonOf(event) + EVENT_TAIL);
  }

  /** The JSON and what follows it. */
  private writeOnce(page: PageWriter, event: TxEvent): void {
    const { printed } = event.block;
    const { step } = event.place;
    const known = printed.get(step);
    const bytes = known && this.texts.get(known);
    if (bytes !== undefined) {
      page.bytes(bytes);
      return;
    }
    const { length } = page;
    page.text(this.jsonOf(event) + EVENT_TAIL);
    const span = this.texts.keep(page.written(length));
    if (span !== undefined) printed.set(step, span);
  }

  private jsonOf(event: Exclude<ChainEvent, { kind: 'rollback' }>): string {
    const { height } = event.place;
    const { scheme } = this.deps.feed.view;
    switch (event.kind) {
      case 'transaction':
        return transactionText(event.tx, height, scheme);
      case 'contractResult':
        return resultText(event.tx, height, scheme);
      case 'policyData':
        return arrivedText(event.item);
      case 'block':
        return this.printedHeader(event);
    }
  }

  private printedHeader({ place, row }: ChainEvent & { kind: 'block' }): string {
    const key = latin1(place.id);
    const text = this.headers.get(key) ?? this.deps.headerText(place.height, row);
    this.headers.set(key, text);
    return text;
  }
}

const isBelow = (place: Place, from: EventRequest['from']): boolean =>
  typeof from === 'object' && place.height < from.height;

/** The id of a place after a rollback comes with the event that tells of the rollback. */
function beginning(from: EventRequest['from'], place: Place | undefined): string {
  if (place === undefined || !isBelow(place, from)) return firstEvent(place && placeText(place));
  return firstEvent(undefined) + rollbackEvent(place.height, placeText(place));
}
