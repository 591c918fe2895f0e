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
    const ranked = [...counts].sort(([a, m], [b, n]) => {
      return Number(limits.isKept(a)) - Number(limits.isKept(b)) || n - m;
    });
    const [client] = ranked[0] ?? [];
    return client === undefined ? undefined : of(client)[0];
  }

  function drop(connection: Connection | undefined): void {
    if (connection === undefined) return;
    const found = all.get(connection);
    all.delete(connection);
    found?.close();
  }

  return {
    add(connection, host, close) {
      const client = limits.isKept(host) ? host : clientOf(host);
      all.set(connection, { client, close });
      const [oldest, ...rest] = of(client);
      if (rest.length >= limits.ofOneHost) drop(oldest);
      if (all.size > limits.inAll) drop(least());
    },
    remove: (connection) => void all.delete(connection),
  };
}
