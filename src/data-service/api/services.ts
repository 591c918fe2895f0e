/** What the routes of the data service get. */

import type { Clock } from '../../base/ports/clock.ts';
import type { Database } from '../../base/ports/database.ts';
import { routeIn } from '../../rest-framework/route.ts';
import type { CrawlState } from '../crawler/crawl-state.ts';
import type { TransactionStreams } from '../stream/stream-service.ts';
import type { HeavyQueries } from './heavy-queries.ts';
import type { SlowClients } from './slow-clients.ts';

export interface DataServices {
  /** Undefined until the store is open. */
  db(): Database | undefined;
  /** For readiness alone, so that no other query keeps it waiting. */
  healthDb(): Database | undefined;
  readonly heavy: HeavyQueries;
  readonly slow: SlowClients;
  /** Who asks; set for one request. */
  readonly client?: string | undefined;
  /** Aborted when the client goes away; set for one request. */
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
  readonly version: string;
  /** The state of the crawler in this process; undefined where another process crawls. */
  readonly crawl: CrawlState | undefined;
  /** Height of the node, asked for by servers without a crawler. */
  nodeHeight(): Promise<number | undefined>;
  /** Blocks behind the node from which on the service is not ready. */
  readonly maxLag: number;
  /** Refuse all queries while the lag is larger. */
  readonly strictLag: boolean;
  readonly meter: QueryMeter;
  streams(): TransactionStreams;
}

export interface QueryMeter {
  /** Begins the measurement of a query with these scopes; the returned function ends it. */
  query(scope: string): () => void;
  timedOut(): void;
}

export const groups = {
  transactions: 'Transactions, found by text and filters.',
  assets: 'Assets and their holders.',
  users: 'Addresses with aliases, roles and balances.',
  blocks: 'Blocks.',
  data: 'Entries of data transactions.',
  health: 'Whether the service works well.',
  service: 'The service itself.',
} as const;

/** `routesIn('blocks')` declares a route of that group. */
export const routesIn = routeIn<DataServices, 'public' | 'apiKey', keyof typeof groups>();
