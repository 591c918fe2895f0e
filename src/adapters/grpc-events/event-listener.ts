/**
 * The service `wavesenterprise.BlockchainEventsService` for applications, on a port of its own
 * (node.md#events-over-grpc). It speaks gRPC by the server that containers have, too.
 *
 * Invariants: a subscriber has one unread message at most beside what HTTP/2 itself holds, and loses
 * its connection where it does not read; connections without a subscription end soon.
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
import { type EventMessages, readEventMessages, SUBSCRIBE_ON } from './event-messages.ts';

export interface EventListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Subscriptions at a time. */
  readonly subscriptionsMax: number;
  /** Those of one address. */
  readonly subscriptionsOfClientMax: number;
}

const REQUEST_BYTES_MAX = limits.request.value;
/** Beside those with a subscription. */
const IDLE_CONNECTIONS_MAX = limits.idleConnections.value;
const IDLE_MS_MAX = limits.idle.value;
/** A subscriber that has not taken an event by then is ended. */
const TAKE_MS_MAX = limits.takeGrpc.value;
/** While so much waits for all subscribers together, no further event is made. */
const WAITING_BYTES_MAX = limits.waiting.value;
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
  { host, port, subscriptionsMax, subscriptionsOfClientMax }: EventListenerOptions,
  service: EventService,
  clock: Pick<Clock, 'after' | 'monotonic'>,
): Promise<EventListener> {
  const messages = readEventMessages();
  const connections = new Map<GrpcConnection, Watched>();
  const shares = new Shares(subscriptionsMax, subscriptionsOfClientMax);
  const waiting = new Waiting();
  const leaving = new AbortController();
  const running = new Set<Promise<void>>();
  const stopWatching = watch(connections, clock);

  function open(connection: GrpcConnection, bytes: Uint8Array, stream: () => AnswerStream): void {
    const request = messages.request(bytes);
    const client = connection.address;
    if (shares.isFull(client)) {
      throw new GrpcRefusal('UNAVAILABLE', 'Too many subscriptions are open');
    }
    const watched = connections.get(connection)!;
    const answer = stream();
    const leave = shares.take(client);
    const slow = (): void => service.endedSlow();
    const ports = { messages, leaving: leaving.signal, clock, waiting, slow };
    const subscriber = subscriberOf(answer, client, ports);
    watched.subscriptions++;
    const ended = service.subscribe(request, subscriber).then(
      () => answer.end(),
      (cause: unknown) => answer.end(subscriber.signal.aborted ? gone() : cause),
    );
    running.add(ended);
    void ended.finally(() => {
      running.delete(ended);
      leave();
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
      stopWatching();
      leaving.abort();
      await Promise.all(running);
      await listener.close();
    },
  };
}

/** Ends connections that are of no use, or send too much. */
function watch(
  connections: ReadonlyMap<GrpcConnection, Watched>,
  clock: Pick<Clock, 'after' | 'monotonic'>,
): () => void {
  const look = (): void => {
    for (const [connection, watched] of connections) {
      const received = connection.received();
      const isIdle =
        watched.subscriptions === 0 && clock.monotonic() - watched.idleSince > IDLE_MS_MAX;
      if (isIdle || received - watched.seen > RECEIVED_BYTES_MAX) connection.destroy();
      watched.seen = received;
    }
    cancel = clock.after(RECEIVED_INTERVAL_MS, look);
  };
  let cancel = clock.after(RECEIVED_INTERVAL_MS, look);
  return () => cancel();
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

/** The bytes that subscribers have not taken. */
class Waiting {
  private bytes = 0;
  private readonly asked = new Set<() => void>();

  /** Resolves at once where there is room; rejects when the signal is aborted. */
  async room(signal: AbortSignal): Promise<void> {
    while (this.bytes >= WAITING_BYTES_MAX) await this.change(signal);
  }

  add(bytes: number): void {
    this.bytes += bytes;
    if (bytes > 0) return;
    for (const ask of [...this.asked]) ask();
    this.asked.clear();
  }

  private async change(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.asked.add(resolve);
    signal.addEventListener('abort', resolve as () => void);
    await promise.finally(() => {
      signal.removeEventListener('abort', resolve as () => void);
      this.asked.delete(resolve);
    });
    signal.throwIfAborted();
  }
}

interface SubscriberPorts {
  readonly messages: EventMessages;
  readonly leaving: AbortSignal;
  readonly clock: Pick<Clock, 'after'>;
  readonly waiting: Waiting;
  /** The client does not read. */
  readonly slow: () => void;
}

function subscriberOf(
  answer: AnswerStream,
  client: string,
  { messages, leaving, clock, waiting, slow }: SubscriberPorts,
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
      await waiting.room(signal);
      const bytes = messages.event(event);
      if (answer.write(bytes)) return;
      const room = Promise.withResolvers<void>();
      taken = room.resolve;
      const forget = clock.after(TAKE_MS_MAX, () => {
        slow();
        answer.destroy();
        left.abort();
      });
      const abort = (): void => room.reject(signal.reason);
      signal.addEventListener('abort', abort);
      waiting.add(bytes.length);
      await room.promise.finally(() => {
        waiting.add(-bytes.length);
        forget();
        signal.removeEventListener('abort', abort);
      });
    },
  };
}
