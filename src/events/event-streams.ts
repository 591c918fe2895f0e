/**
 * GET /events: the events of the chain to many clients. Clients with the same filter at the same
 * place share the text, so an event is judged and printed once for all of them.
 */

import { latin1 } from '../base/bytes.ts';
import type { HttpStream } from '../base/http.ts';
import type { Clock } from '../base/ports.ts';
import type { HeaderRow } from '../block/header-row.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { BoundedCache } from '../concurrency/bounded-cache.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import type { Tx } from '../tx/transaction.ts';
import type { ChainEvent, ChainFeed, TxEvent } from './chain-feed.ts';
import type { EventFilter } from './event-filter.ts';
import { arrivedText, resultText, transactionText } from './event-json.ts';
import {
  type EndReason,
  eventText,
  FILLER,
  finalEvent,
  firstEvent,
  placeEvent,
  rollbackEvent,
} from './event-text.ts';
import { type NamedPlace, type Place, placeIn, placeText } from './place.ts';
import { type Page, SharedPages } from './shared-pages.ts';
import {
  type Advance,
  BEAT_MS,
  createStreams,
  type Sink,
  type StreamReader,
  type Streams,
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

/** A page ends behind the event that makes it so long. */
const PAGE_CHARS = 128 * 1024;
const HEADERS_MAX = 16;

export const createEventStreams = (options: StreamsOptions, deps: EventStreamsDeps): EventStreams =>
  new FeedStreams(options, deps);

class FeedStreams implements EventStreams {
  private readonly deps: EventStreamsDeps;
  private readonly streams: Streams<true>;
  private readonly ends: readonly (() => void)[];
  /** Read once for all readers. */
  private finalHeight: number;
  private readonly pages = new SharedPages<Place>();
  /** By block id: of the latest blocks. */
  private readonly headers = new BoundedCache<string, string>(HEADERS_MAX);
  /** Removals of blocks that the pages reflect. */
  private removals: number;

  constructor(options: StreamsOptions, deps: EventStreamsDeps) {
    const { feed, clock } = deps;
    this.deps = deps;
    this.removals = feed.removals();
    this.streams = createStreams<true>(options, {
      clock,
      async begin() {
        return true;
      },
      pollMs: () => BEAT_MS,
      failed(cause) {
        throw cause;
      },
      idle: () => this.pages.clear(),
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

  open(request: EventRequest): { readonly first: string; readonly stream: HttpStream } {
    const { client, from } = request;
    const start = this.startOf(request);
    const opened = this.streams.admit({ client, catchesUp: from !== undefined });
    const stream = opened.stream(
      start === undefined ? 'place' : (sink) => this.reader(request, start, sink),
    );
    return { first: beginning(from, start), stream };
  }

  count(): number {
    return this.streams.count();
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.streams.stop();
    this.pages.clear();
  }

  private startOf({ from, filter }: EventRequest): Place | undefined {
    const { feed } = this.deps;
    const before = typeof from === 'number' ? feed.before(from) : undefined;
    const start = typeof from === 'object' ? placeIn(feed.view, from) : (before ?? feed.end());
    // How many confidential data the node has is not for everybody.
    return start && (filter.kinds.has('policyData') ? start : { ...start, arrival: 0 });
  }

  private reader(request: EventRequest, from: Place, sink: Sink): StreamReader<true> {
    const { feed } = this.deps;
    const { filter, follows } = request;
    let place = from;
    let told = from;
    /** Removed blocks that others replace become final anew. */
    let toldFinal = 0;
    const send = (text: string): void => {
      told = place;
      sink(text);
    };
    return {
      advance: async (_round, signal): Promise<Advance> => {
        let text = '';
        if (!feed.isEnd(place, filter)) {
          const page = await this.sharedPage(place, request);
          if (signal.aborted) return 'waits';
          if (page === undefined) return 'lost';
          ({ place, text } = page);
        }
        const isEnd = feed.isEnd(place, filter);
        toldFinal = Math.min(toldFinal, place.height);
        if (isEnd && filter.kinds.has('final') && this.finalHeight > toldFinal) {
          toldFinal = this.finalHeight;
          text += finalEvent(toldFinal, placeText(place));
        }
        if (text !== '') send(text);
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
    return pages.get(key, read, (page) => page.place !== place);
  }

  private async read(from: Place, filter: EventFilter): Promise<Page<Place> | undefined> {
    const { feed, clock } = this.deps;
    const slice = new TimeSlice(clock);
    let place = from;
    let text = '';
    for (;;) {
      const following = await feed.next(place, filter);
      if (following === undefined) return undefined;
      for (const event of following.events) {
        text += this.textOf(event);
        if (text.length >= PAGE_CHARS) return { text, place: event.place };
        if (slice.isOver()) await slice.yield();
      }
      ({ place } = following);
      const isRolledBack = place.height < from.height;
      if (isRolledBack || slice.isOver() || feed.isEnd(place, filter)) return { text, place };
    }
  }

  private textOf(event: ChainEvent): string {
    const { kind, place } = event;
    const id = placeText(place);
    if (kind === 'rollback') return rollbackEvent(place.height, id);
    return eventText(kind, id, this.jsonOf(event));
  }

  private jsonOf(event: Exclude<ChainEvent, { kind: 'rollback' }>): string {
    switch (event.kind) {
      case 'transaction':
        return this.printedOnce(event, transactionText);
      case 'contractResult':
        return this.printedOnce(event, resultText);
      case 'policyData':
        return arrivedText(event.item);
      case 'block':
        return this.printedHeader(event);
    }
  }

  private printedOnce(
    { block, place, tx }: TxEvent,
    print: (tx: Tx, height: number, scheme: ChainScheme) => string,
  ): string {
    const { printed } = block;
    const text = printed.get(place.step) ?? print(tx, place.height, this.deps.feed.view.scheme);
    printed.set(place.step, text);
    return text;
  }

  private printedHeader({ place, row }: ChainEvent & { kind: 'block' }): string {
    const key = latin1(place.id);
    const text = this.headers.get(key) ?? this.deps.headerText(place.height, row);
    this.headers.set(key, text);
    return text;
  }
}

/** The id of a place after a rollback comes with the event that tells of the rollback. */
function beginning(from: EventRequest['from'], place: Place | undefined): string {
  const isRolledBack =
    typeof from === 'object' && place !== undefined && place.height < from.height;
  if (!isRolledBack) return firstEvent(place && placeText(place));
  return firstEvent(undefined) + rollbackEvent(place.height, placeText(place));
}
