/**
 * The service `wavesenterprise.BlockchainEventsService` for applications, on a port of its own
 * (node.md#events-over-grpc). It speaks gRPC by the server that containers have, too.
 *
 * Invariants: a subscriber has one unread message at most beside what HTTP/2 itself holds, and loses
 * its stream where it does not read; connections without a subscription end soon.
 */
import { eventLimits as limits } from '../../base/limits/event-limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { EventListener, EventService, Subscriber } from '../../base/ports/event-service.ts';
import { Counts } from '../../concurrency/counts.ts';
import { nothingHeld } from '../containers/grpc/frames.ts';
import {
  type Answering,
  type AnswerStream,
  type GrpcConnection,
  type GrpcHandler,
  listenGrpc,
} from '../containers/grpc/listener.ts';
import { GrpcRefusal } from '../containers/grpc/status.ts';
import { EventConnections, IDLE_CONNECTIONS_MAX } from './event-connections.ts';
import { type EventMessages, readEventMessages, SUBSCRIBE_ON } from './event-messages.ts';
import { UntakenEvents } from './untaken-events.ts';

export interface EventListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Subscriptions at a time. */
  readonly subscriptionsMax: number;
  /** Those of one address. */
  readonly subscriptionsOfClientMax: number;
}

const REQUEST_BYTES_MAX = limits.request.value;
/** A subscriber that has not taken an event by then is ended. */
const TAKE_MS_MAX = limits.takeGrpc.value;

/** Rejects where the port is taken. */
export async function listenForSubscribers(
  { host, port, subscriptionsMax, subscriptionsOfClientMax }: EventListenerOptions,
  service: EventService,
  clock: Pick<Clock, 'after' | 'monotonic'>,
): Promise<EventListener> {
  const messages = readEventMessages();
  const connections = new EventConnections(clock);
  const shares = new Shares(subscriptionsMax, subscriptionsOfClientMax);
  const untaken = new UntakenEvents(clock);
  const leaving = new AbortController();
  const running = new Set<Promise<void>>();

  function open(connection: GrpcConnection, bytes: Uint8Array, stream: () => AnswerStream): void {
    const request = messages.request(bytes);
    const { client } = connection;
    if (shares.isFull(client)) {
      throw new GrpcRefusal('UNAVAILABLE', 'Too many subscriptions are open');
    }
    const answer = stream();
    const leave = shares.take(client);
    const slow = (): void => service.endedSlow();
    const ports = { messages, leaving: leaving.signal, clock, untaken, slow };
    const subscriber = subscriberOf(answer, client, ports);
    const unsubscribe = connections.subscribed(connection);
    const ended = service.subscribe(request, subscriber).then(
      () => answer.end(),
      (cause: unknown) => answer.end(subscriber.signal.aborted ? gone() : cause),
    );
    running.add(ended);
    void ended.finally(() => {
      running.delete(ended);
      leave();
      unsubscribe();
    });
  }

  const handler: GrpcHandler = {
    connected: (connection) => connections.connected(connection),
    disconnected: (connection) => connections.disconnected(connection),
    begin(connection, path): Answering {
      if (!connections.asks(connection)) throw gone();
      if (path !== SUBSCRIBE_ON) throw unknown();
      return {
        held: nothingHeld(),
        messageBytesMax: REQUEST_BYTES_MAX,
        open: (bytes, stream) => open(connection, bytes, stream),
      };
    },
  };
  const connectionsMax = subscriptionsMax + IDLE_CONNECTIONS_MAX;
  const listener = await listenGrpc({ host, port }, connectionsMax, handler, clock);
  return {
    port: listener.port!,
    async close() {
      connections.stop();
      leaving.abort();
      await Promise.all(running);
      await listener.close();
    },
  };
}

const unknown = (): GrpcRefusal => new GrpcRefusal('UNIMPLEMENTED', 'There is no such method');
const gone = (): GrpcRefusal => new GrpcRefusal('UNAVAILABLE', 'The subscription has ended');

/** The places for subscriptions. */
class Shares {
  private readonly most: number;
  private readonly ofClientMost: number;
  private readonly ofClients = new Counts<string>();
  private count = 0;

  constructor(most: number, ofClientMost: number) {
    this.most = most;
    this.ofClientMost = ofClientMost;
  }

  isFull(client: string): boolean {
    return this.count >= this.most || this.ofClients.of(client) >= this.ofClientMost;
  }

  /** What it returns gives the place back. */
  take(client: string): () => void {
    this.count++;
    this.ofClients.add(client, 1);
    return () => {
      this.count--;
      this.ofClients.add(client, -1);
    };
  }
}

interface SubscriberPorts {
  readonly messages: EventMessages;
  readonly leaving: AbortSignal;
  readonly clock: Pick<Clock, 'after'>;
  readonly untaken: UntakenEvents;
  /** The client does not read. */
  readonly slow: () => void;
}

function subscriberOf(
  answer: AnswerStream,
  client: string,
  { messages, leaving, clock, untaken, slow }: SubscriberPorts,
): Subscriber {
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, leaving]);
  let taken = (): void => {};
  answer.onEnd(() => left.abort());
  answer.onDrain(() => taken());
  return {
    client,
    signal,
    async write(event) {
      signal.throwIfAborted();
      await untaken.room(signal);
      const bytes = messages.event(event);
      if (answer.write(bytes)) return;
      const room = Promise.withResolvers<void>();
      taken = room.resolve;
      const end = (): void => {
        slow();
        answer.destroy();
        left.abort();
      };
      const forget = clock.after(TAKE_MS_MAX, end);
      const abort = (): void => room.reject(signal.reason);
      signal.addEventListener('abort', abort);
      const remove = untaken.add(bytes.length, end);
      await room.promise.finally(() => {
        remove();
        forget();
        signal.removeEventListener('abort', abort);
      });
    },
  };
}
