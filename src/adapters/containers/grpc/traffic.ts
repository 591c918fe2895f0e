/**
 * Ends a container that sends far more than any call needs. Requests are counted where they are
 * answered; this also sees frames that are no requests, which cost time as well.
 */
import { contractLimits as limits } from '../../../base/limits/contract-limits.ts';
import type { Clock } from '../../../base/ports/clock.ts';
import { every } from '../../../concurrency/interval.ts';
import type { GrpcContainer } from './container.ts';
import type { GrpcConnection } from './listener.ts';

export interface Traffic {
  /** A connection has begun. */
  began(): void;
  /** It belongs to the container. */
  connected(connection: GrpcConnection): void;
  disconnected(connection: GrpcConnection): void;
  /** Ends all connections of the container. */
  stop(): void;
}

export function watchTraffic(
  container: Pick<GrpcContainer, 'end'>,
  clock: Pick<Clock, 'after'>,
): Traffic {
  /** Bytes of each connection at the last look. */
  const seen = new Map<GrpcConnection, number>();
  let isNew = 0;
  /** Bytes of connections that have ended since the last look. */
  let gone = 0;
  const endLooks = every(clock, limits.interval.value, () => {
    let received = gone;
    gone = 0;
    for (const [connection, before] of seen) {
      const now = connection.received();
      received += now - before;
      seen.set(connection, now);
    }
    if (received > limits.received.value) container.end('it sends too much');
    isNew = 0;
  });

  return {
    began() {
      isNew++;
      if (isNew > limits.newConnections.value) container.end('it connects too often');
    },
    connected(connection) {
      // What came before its token counts as well.
      seen.set(connection, 0);
      if (seen.size > limits.connections.value) connection.destroy();
    },
    disconnected(connection) {
      gone += connection.received() - (seen.get(connection) ?? 0);
      seen.delete(connection);
    },
    stop() {
      endLooks();
      for (const connection of seen.keys()) connection.destroy();
    },
  };
}
