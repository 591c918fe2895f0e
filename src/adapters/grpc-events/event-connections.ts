/**
 * The connections of subscribers. Ends those that are of no use, whose other end is gone, or that send
 * too much: each holds a place that others want.
 */
import { eventLimits as limits } from '../../base/limits/event-limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { Counts } from '../../concurrency/counts.ts';
import { every } from '../../concurrency/interval.ts';
import type { GrpcConnection } from '../containers/grpc/listener.ts';

/** Beside those with a subscription. */
export const IDLE_CONNECTIONS_MAX = limits.idleConnections.value;
const IDLE_OF_ADDRESS_MAX = limits.idleOfAddress.value;
const IDLE_MS_MAX = limits.idle.value;
/** What a connection may send in an interval, beyond acknowledgements of what it receives. */
const RECEIVED_BYTES_MAX = 1024 * 1024;
const INTERVAL_MS = 10_000;
/** Also those that are refused: each costs the main thread of the node. */
const REQUESTS_MAX = limits.requests.value;
/** Looks in a row, and not a time: while this program stood still, nobody could be heard. */
const SILENT_LOOKS_MAX = limits.silent.value / INTERVAL_MS;

interface Watched {
  subscriptions: number;
  /** Since the last look. */
  requests: number;
  /** Bytes received at the last look. */
  seen: number;
  /** Looks in a row that found nothing new. */
  silent: number;
  idleSince: number;
}

export class EventConnections {
  private readonly clock: Pick<Clock, 'monotonic'>;
  /** The oldest comes first. */
  private readonly connections = new Map<GrpcConnection, Watched>();
  /** Ends the looks at the connections. */
  readonly stop: () => void;

  constructor(clock: Pick<Clock, 'after' | 'monotonic'>) {
    this.clock = clock;
    this.stop = every(clock, INTERVAL_MS, () => this.look());
  }

  connected(connection: GrpcConnection): void {
    const idleSince = this.clock.monotonic();
    const none = { subscriptions: 0, requests: 0, seen: 0, silent: 0 };
    this.connections.set(connection, { ...none, idleSince });
    this.makeRoom(connection);
  }

  /** Counts a request; false where the connection has ended. */
  asks(connection: GrpcConnection): boolean {
    const watched = this.connections.get(connection);
    if (watched === undefined) return false;
    watched.requests++;
    if (watched.requests > REQUESTS_MAX) this.end(connection);
    return watched.requests <= REQUESTS_MAX;
  }

  disconnected(connection: GrpcConnection): void {
    this.connections.delete(connection);
  }

  /** What it returns ends the subscription. */
  subscribed(connection: GrpcConnection): () => void {
    const watched = this.connections.get(connection);
    if (watched === undefined) return () => {};
    watched.subscriptions++;
    return () => {
      watched.subscriptions--;
      watched.idleSince = this.clock.monotonic();
    };
  }

  /** Who has most of those without a subscription gives one up. */
  private makeRoom(newest: GrpcConnection): void {
    const idle: GrpcConnection[] = [];
    const ofClients = new Counts<string>();
    for (const [connection, { subscriptions }] of this.connections) {
      if (subscriptions > 0) continue;
      idle.push(connection);
      ofClients.add(connection.client, 1);
    }
    const countOf = ({ client }: GrpcConnection): number => ofClients.of(client);
    if (countOf(newest) > IDLE_OF_ADDRESS_MAX) this.end(newest);
    else if (idle.length > IDLE_CONNECTIONS_MAX) {
      this.end(idle.reduce((most, one) => (countOf(one) > countOf(most) ? one : most)));
    }
  }

  private look(): void {
    for (const [connection, watched] of this.connections) {
      const received = connection.received();
      const isIdle =
        watched.subscriptions === 0 && this.clock.monotonic() - watched.idleSince > IDLE_MS_MAX;
      watched.silent = received === watched.seen ? watched.silent + 1 : 0;
      const isGone = watched.silent >= SILENT_LOOKS_MAX;
      if (isIdle || isGone || received - watched.seen > RECEIVED_BYTES_MAX) this.end(connection);
      else connection.ping();
      watched.seen = received;
      watched.requests = 0;
    }
  }

  private end(connection: GrpcConnection): void {
    this.connections.delete(connection);
    connection.destroy();
  }
}
