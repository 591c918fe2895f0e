/**
 * One reader of the stream. The store is its queue: it has a place in the chain, and takes the next
 * page from there once the client has taken the last one. So a slow client costs no memory.
 *
 * Invariant: all rows of a page are of the chain whose removals the reader has announced. A page
 * that came from a later state is dropped, and the next round announces the removal first.
 */
import { stringify } from '../../base/json/json.ts';
import type { LazyAbort } from '../../concurrency/lazy-abort.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import {
  eventText,
  FILLER,
  finalEvent,
  placeEvent,
  rollbackEvent,
} from '../../events/event-text.ts';
import type { Advance, StreamReader } from '../../events/streams.ts';
import { type Cut, shownOf } from '../api/page-cut.ts';
import { rows } from '../api/reading.ts';
import type { DataServices } from '../api/services.ts';
import { type TxRow, transactionOf } from '../api/shapes.ts';
import { planPage, restOf } from '../api/transaction-query.ts';
import { pageStatement } from '../api/transaction-sql.ts';
import {
  isMarked,
  type LastPlace,
  markOf,
  type Place,
  placeText,
  REMOVED_AT,
  returnFrom,
} from './chain-place.ts';
import type { StreamRequest } from './stream-service.ts';

const ROWS = 200;
const PAGE_BYTES = 512 * 1024;

interface StreamedRow extends TxRow, Cut {
  readonly removed_at: string;
}

/** The events of a page. */
interface EventPage {
  readonly text: string;
  /** Behind its last transaction; undefined where nothing more follows. */
  readonly end: Place | undefined;
  /** It reflects other removals than those that its readers have announced. */
  readonly isOther: boolean;
}

/** Pages of one round, by place and filter: readers with the same ones share them. */
type RoundPages = Map<string, Promise<EventPage>>;

export interface StreamRound {
  /** Where the store ends. */
  readonly last: LastPlace;
  readonly pages: RoundPages;
}

type TextSink = (text: string) => void;

export const streamReader = (
  request: StreamRequest,
  from: Place,
  sink: TextSink,
  services: DataServices,
): StreamReader<StreamRound> => new ChainReader(request, from, sink, services);

class ChainReader implements StreamReader<StreamRound> {
  private readonly request: StreamRequest;
  private readonly sink: TextSink;
  private readonly shared: DataServices;
  /** The services of the turn that runs. */
  private services: DataServices;
  private place: Place;
  /** The place that the client knows. */
  private told: Place;
  private isChecked: boolean;
  /** The height in the last event about final blocks. */
  private toldFinal = 0;

  constructor(request: StreamRequest, from: Place, sink: TextSink, services: DataServices) {
    this.request = request;
    this.sink = sink;
    this.shared = services;
    this.services = services;
    this.place = from;
    this.told = from;
    this.isChecked = from.mark === '';
  }

  async advance({ last, pages }: StreamRound, { signal }: LazyAbort): Promise<Advance> {
    this.services = { ...this.shared, signal };
    const { place } = this;
    // A replica hears later of a removal that the client knows from another server.
    if (place.removedAt > last.removedAt) return last.isReplica ? 'waits' : 'lost';
    if (place.removedAt < last.removedAt) return this.goBack(last, signal);
    // A replica may be behind the server that the client had before, and go on with other rows.
    if (place.seq > last.seq) {
      this.isChecked = false;
      return 'waits';
    }
    if (!this.isChecked && !(await isMarked(place, this.services))) return 'lost';
    this.isChecked = true;
    if (place.seq === last.seq) {
      this.tellFinal(last);
      return 'waits';
    }
    return this.sendPage(last, pages, signal);
  }

  beat(): void {
    this.send(this.told === this.place ? FILLER : placeEvent(placeText(this.place)));
  }

  private send(text: string): void {
    this.told = this.place;
    this.sink(text);
  }

  private async sendPage(
    last: LastPlace,
    pages: RoundPages,
    signal: AbortSignal,
  ): Promise<Advance> {
    const { text, end, isOther } = await this.sharedPage(last, pages);
    // A shared query does not end with the turn of one reader.
    if (signal.aborted) return 'waits';
    if (isOther) return 'more';
    this.place = end ?? last;
    if (text !== '') this.send(text);
    if (end !== undefined) return 'more';
    this.tellFinal(last);
    return 'waits';
  }

  /** Once the client has all transactions of these blocks: the state of the store has both. */
  private tellFinal({ finalHeight }: LastPlace): void {
    if (finalHeight <= this.toldFinal) return;
    this.toldFinal = finalHeight;
    this.send(finalEvent(finalHeight, placeText(this.place)));
  }

  private async goBack(last: Place, signal: AbortSignal): Promise<Advance> {
    const { height, place } = await returnFrom(this.place, last.removedAt, this.services);
    if (signal.aborted) return 'waits';
    this.isChecked ||= place.seq < this.place.seq;
    this.place = place;
    this.toldFinal = Math.min(this.toldFinal, height);
    this.send(rollbackEvent(height, placeText(place)));
    return 'more';
  }

  private sharedPage(last: Place, pages: RoundPages): Promise<EventPage> {
    const key = `${this.place.seq} ${this.request.filterText}`;
    const page = pages.get(key) ?? this.pageAfter(this.place.seq, last);
    pages.set(key, page);
    return page;
  }

  private async pageAfter(seq: number, last: Place): Promise<EventPage> {
    const { services } = this;
    const wanted = { ...this.request.filter, index: seq + 1, limit: ROWS, sort: 'asc' } as const;
    const query = await planPage(wanted, last.seq, services);
    if (query.sources.length === 0) return { text: '', end: undefined, isOther: false };
    const statement = pageStatement(query, PAGE_BYTES, [`${REMOVED_AT} AS removed_at`]);
    const found = await rows<StreamedRow>(services, statement.sql, statement.values);
    const { shown, following } = shownOf(found, ROWS);
    const end =
      following === undefined
        ? before(await restOf(query, services), last)
        : placeOf(shown.at(-1)!, last);
    const isOther = found.some((row) => Number(row.removed_at) !== last.removedAt);
    return { text: isOther ? '' : await this.eventsOf(shown, last), end, isOther };
  }

  /** One by one, so that other requests run in between. */
  private async eventsOf(shown: readonly StreamedRow[], last: Place): Promise<string> {
    const slice = new TimeSlice(this.services.clock);
    let text = '';
    for (const row of shown) {
      text += transactionEvent(row, last);
      if (slice.isOver()) await slice.yield();
    }
    return text;
  }
}

/** A page may end before a transaction that nobody has looked at yet. */
const before = (seq: number | undefined, { removedAt }: Place): Place | undefined =>
  seq === undefined ? undefined : { seq: seq - 1, removedAt, mark: '' };

const placeOf = ({ seq, id }: StreamedRow, { removedAt }: Place): Place => ({
  seq: Number(seq),
  removedAt,
  mark: markOf(id),
});

function transactionEvent(row: StreamedRow, last: Place): string {
  const id = placeText(placeOf(row, last));
  return eventText('transaction', id, stringify(transactionOf(row)));
}
