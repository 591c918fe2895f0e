/**
 * Incoming connections until they are encrypted. One host cannot take the places of others, and a
 * silent connection makes room for a newer one.
 */

import type { Libp2pOptions } from 'libp2p';
import { clientOf } from '../../base/ip-range.ts';
import { createUnauthenticatedConnections } from '../../base/unauthenticated-connections.ts';

type Gater = NonNullable<Libp2pOptions['connectionGater']>;
type Socket = Parameters<NonNullable<Gater['denyInboundConnection']>>[0];

/** Unfinished connections. */
export const PENDING_MAX = 128;
const PENDING_OF_ONE_HOST = 32;
/** New connections of one host in a second; hosts that the configuration names may open more. */
const ARRIVALS_MAX = 20;
const KEPT_ARRIVALS_MAX = 100;
const SECOND_MS = 1_000;
/**
 * Hosts whose arrivals are counted in a second; above this, more hosts are refused until the second
 * ends.
 */
const HOSTS_MAX = 10_000;

export interface Arrivals {
  /** False: the connection may continue while there is room. */
  isRefused(socket: Socket): boolean;
  /** The connection is encrypted. */
  settled(socket: Socket): void;
}

export function createArrivals(isKept: (host: string) => boolean): Arrivals {
  const pending = createUnauthenticatedConnections<Socket>({
    ofOneHost: PENDING_OF_ONE_HOST,
    inAll: PENDING_MAX,
    isKept,
  });
  let counts = new Map<string, number>();
  let since = performance.now();

  function isTooFast(host: string): boolean {
    if (performance.now() - since > SECOND_MS) {
      counts = new Map();
      since = performance.now();
    }
    // A host of the configuration counts alone, and has its place among the others.
    const kept = isKept(host);
    const client = kept ? host : clientOf(host);
    const count = 1 + (counts.get(client) ?? 0);
    if (count === 1 && !kept && counts.size >= HOSTS_MAX) return true;
    counts.set(client, count);
    return count > (kept ? KEPT_ARRIVALS_MAX : ARRIVALS_MAX);
  }

  return {
    isRefused(socket) {
      const { host } = placeOf(socket.remoteAddr);
      if (isTooFast(host)) return true;
      pending.add(socket, host, () => socket.abort(new Error('others are waiting')));
      socket.addEventListener('close', () => pending.remove(socket), { once: true });
      return false;
    },
    settled: (socket) => pending.remove(socket),
  };
}

/** Host and port of "/ip4/10.0.0.1/tcp/6864/p2p/…". */
export function placeOf(address: { toString(): string }): { host: string; port: number } {
  const [, , host = '', , port] = address.toString().split('/');
  return { host: host.replace(/^::ffff:/, ''), port: Number(port) };
}
