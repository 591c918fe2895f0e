/** What a route asks of the stream of transactions. */
import type { HttpStream } from '../../base/ports/http.ts';
import type { TransactionFilter } from '../api/transaction-filter.ts';

export type StreamFilter = Omit<TransactionFilter, 'index' | 'limit' | 'sort'>;

export interface StreamRequest {
  readonly filter: StreamFilter;
  /** The filter as the client gave it: equal texts share their queries. */
  readonly filterText: string;
  /** Whose streams are counted together. */
  readonly client: string;
  /** Last-Event-ID; '' where there is none. */
  readonly lastId: string;
}

export interface OpenedStream {
  readonly first: string;
  readonly stream: HttpStream;
}

export interface TransactionStreams {
  /** Throws ApiError where the last id is none, or too many streams are open. */
  open(request: StreamRequest): Promise<OpenedStream>;
  /** Streams that are open. */
  count(): number;
  /** Ends all streams. */
  stop(): Promise<void>;
}
