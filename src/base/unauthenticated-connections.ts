/**
 * Incoming connections that have not yet authenticated: a limited number for one host, and in all.
 * Above the limit the oldest is closed. An honest node authenticates within a moment, so the oldest
 * is the least likely to be honest.
 *
 * Connections of hosts in the configuration are closed last.
 */

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
  readonly host: string;
  readonly close: () => void;
}

export function createUnauthenticatedConnections<Connection>(
  limits: UnauthenticatedLimits,
): UnauthenticatedConnections<Connection> {
  /** The oldest first. */
  const all = new Map<Connection, Unauthenticated>();

  function of(host: string): Connection[] {
    return [...all].filter(([, one]) => one.host === host).map(([connection]) => connection);
  }

  /** The oldest connection of the host that has the most. */
  function least(): Connection | undefined {
    const counts = new Map<string, number>();
    for (const { host } of all.values()) counts.set(host, (counts.get(host) ?? 0) + 1);
    const ranked = [...counts].sort(([a, m], [b, n]) => {
      return Number(limits.isKept(a)) - Number(limits.isKept(b)) || n - m;
    });
    const [host] = ranked[0] ?? [];
    return host === undefined ? undefined : of(host)[0];
  }

  function drop(connection: Connection | undefined): void {
    if (connection === undefined) return;
    const found = all.get(connection);
    all.delete(connection);
    found?.close();
  }

  return {
    add(connection, host, close) {
      all.set(connection, { host, close });
      const [oldest, ...rest] = of(host);
      if (rest.length >= limits.ofOneHost) drop(oldest);
      if (all.size > limits.inAll) drop(least());
    },
    remove: (connection) => void all.delete(connection),
  };
}
