/**
 * The service `wavesenterprise.BlockchainEventsService` for applications, on a port of its own
 * (node.md#events-over-grpc). It speaks gRPC by the server that containers have, too.
 *
 * Invariants: a subscriber has one unread message at most beside what HTTP/2 itself holds, and loses
 * its connection where it does not read; connections without a subscription end soon.
 */
import type { EventListener, EventService, Subscriber } from '../../base/event-service.ts';
import type { Clock } from '../../base/ports.ts';
import { nothingHeld } from '../containers/grpc/frames.ts';
import {
  type Answering,
  type AnswerStream,
  type GrpcConnection,
  type GrpcHandler,
  listenGrpc,
} from '../containers/grpc/listener.ts';
import { GrpcRefusal } from '../containers/grpc/status.ts';
import { type EventMessages, readEventMessages, SUBSCRIBE_ON } from './event-messages.ts';

export interface EventListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Subscriptions at a time. */
  readonly subscriptionsMax: number;
}

const REQUEST_BYTES_MAX = 16 * 1024;
/** Beside those with a subscription. */
const IDLE_CONNECTIONS_MAX = 32;
const IDLE_MS_MAX = 30_000;
/** A subscriber that has not taken an event by then is ended. */
const TAKE_MS_MAX = 10_000;
/** What a connection may send in an interval, beyond acknowledgements of what it receives. */
const RECEIVED_BYTES_MAX = 1024 * 1024;
const RECEIVED_INTERVAL_MS = 10_000;

interface Watched {
  subscriptions: number;
  /** Bytes received at the last look. */
  seen: number;
  idleSince: number;
}

/** Rejects where the port is taken. */
export async function listenForSubscribers(
  { host, port, subscriptionsMax }: EventListenerOptions,
  service: EventService,
  clock: Pick<Clock, 'after' | 'monotonic'>,
): Promise<EventListener> {
  const messages = readEventMessages();
  const connections = new Map<GrpcConnection, Watched>();
  const leaving = new AbortController();
  const running = new Set<Promise<void>>();
  let cancel = clock.after(RECEIVED_INTERVAL_MS, look);

  function look(): void {
    for (const [connection, watched] of connections) {
      const received = connection.received();
      const isIdle =
        watched.subscriptions === 0 && clock.monotonic() - watched.idleSince > IDLE_MS_MAX;
      if (isIdle || received - watched.seen > RECEIVED_BYTES_MAX) connection.destroy();
      watched.seen = received;
    }
    cancel = clock.after(RECEIVED_INTERVAL_MS, look);
  }

  function open(connection: GrpcConnection, bytes: Uint8Array, stream: () => AnswerStream): void {
    const request = messages.request(bytes);
    if (running.size >= subscriptionsMax) {
      throw new GrpcRefusal('UNAVAILABLE', 'Too many subscriptions are open');
    }
    const watched = connections.get(connection)!;
    const answer = stream();
    const subscriber = subscriberOf(answer, messages, leaving.signal, clock);
    watched.subscriptions++;
    const ended = service.subscribe(request, subscriber).then(
      () => answer.end(),
      (cause: unknown) => answer.end(subscriber.signal.aborted ? gone() : cause),
    );
    running.add(ended);
    void ended.finally(() => {
      running.delete(ended);
      watched.subscriptions--;
      watched.idleSince = clock.monotonic();
    });
  }

  const handler: GrpcHandler = {
    connected(connection) {
      connections.set(connection, { subscriptions: 0, seen: 0, idleSince: clock.monotonic() });
    },
    disconnected: (connection) => void connections.delete(connection),
    begin(connection, path): Answering {
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
      cancel();
      leaving.abort();
      await Promise.all(running);
      await listener.close();
    },
  };
}

const unknown = (): GrpcRefusal => new GrpcRefusal('UNIMPLEMENTED', 'There is no such method');
const gone = (): GrpcRefusal => new GrpcRefusal('UNAVAILABLE', 'The subscription has ended');

function subscriberOf(
  answer: AnswerStream,
  messages: EventMessages,
  leaving: AbortSignal,
  clock: Pick<Clock, 'after'>,
): Subscriber {
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, leaving]);
  let taken = (): void => {};
  answer.onEnd(() => left.abort());
  answer.onDrain(() => taken());
  return {
    signal,
    async write(event) {
      signal.throwIfAborted();
      if (answer.write(messages.event(event))) return;
      const room = Promise.withResolvers<void>();
      taken = room.resolve;
      const forget = clock.after(TAKE_MS_MAX, () => {
        answer.destroy();
        left.abort();
      });
      const abort = (): void => room.reject(signal.reason);
      signal.addEventListener('abort', abort);
      await room.promise.finally(() => {
        forget();
        signal.removeEventListener('abort', abort);
      });
    },
  };
}
