/**
 * Incoming connections that have not yet authenticated: a limited number for one client, and in all.
 * Above the limit the oldest is closed. An honest node authenticates within a moment, so the oldest
 * is the least likely to be honest.
 *
 * Connections of hosts in the configuration are closed last.
 */

import { clientOf } from './ip-range.ts';
export interface UnauthenticatedLimits {
  readonly ofOneHost: number;
  readonly inAll: number;
  /** True for a host that the configuration names. */
  readonly isKept: (host: string) => boolean;
}

export interface UnauthenticatedConnections<Connection> {
  /** `close` is called when the connection has to make room. */
  add(connection: Connection, host: string, close: () => void): void;
  /** The connection has authenticated, or is gone. */
  remove(connection: Connection): void;
}

interface Unauthenticated {
  /** A host of the configuration counts alone. */
  readonly client: string;
  /** Asked for once: it goes through all places that a node knows. */
  readonly isKept: boolean;
  readonly close: () => void;
}

export function createUnauthenticatedConnections<Connection>(
  limits: UnauthenticatedLimits,
): UnauthenticatedConnections<Connection> {
  /** The oldest first. */
  const all = new Map<Connection, Unauthenticated>();

  function of(client: string): Connection[] {
    return [...all].filter(([, one]) => one.client === client).map(([connection]) => connection);
  }

  /** The oldest connection of the client that has the most. */
  function least(): Connection | undefined {
    const counts = new Map<string, number>();
    for (const { client } of all.values()) counts.set(client, (counts.get(client) ?? 0) + 1);
    const countOf = ({ client }: Unauthenticated): number => counts.get(client) ?? 0;
    const ranked = [...all].sort(
      ([, a], [, b]) => Number(a.isKept) - Number(b.isKept) || countOf(b) - countOf(a),
    );
    return ranked[0]?.[0];
  }

  function drop(connection: Connection | undefined): void {
    if (connection === undefined) return;
    const found = all.get(connection);
    all.delete(connection);
    found?.close();
  }

  return {
    add(connection, host, close) {
      const isKept = limits.isKept(host);
      const client = isKept ? host : clientOf(host);
      all.set(connection, { client, isKept, close });
      const [oldest, ...rest] = of(client);
      if (rest.length >= limits.ofOneHost) drop(oldest);
      if (all.size > limits.inAll) drop(least());
    },
    remove: (connection) => void all.delete(connection),
  };
}
