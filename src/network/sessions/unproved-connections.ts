/**
 * Connections whose other end has not yet proved its identity. They become a session or end.
 *
 * Invariants: a connection that others opened gets one handshake and must begin it in time; whether
 * a connection becomes a session is decided once; until then a few of its streams wait and the rest
 * are refused. Those that others opened have a limited number of places (base/unauthenticated-connections.ts).
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { PeerConnection } from '../../base/ports/network.ts';
import {
  createUnauthenticatedConnections,
  type UnauthenticatedConnections,
} from '../../base/unauthenticated-connections.ts';

export interface UnprovedOptions {
  /** Silence after which an incoming connection ends. */
  readonly handshakeMs: number;
  /** True for a host that the configuration names. */
  readonly isKept: (host: string) => boolean;
}

interface Unproved<Session> {
  /** Undefined: the handshake failed. */
  readonly outcome: PromiseWithResolvers<Session | undefined>;
  /** True for an incoming connection whose handshake has not begun. */
  isSilent: boolean;
  isSession: boolean;
  /** Streams that arrived before the session. */
  early: number;
}

/** Incoming connections that are not sessions yet. */
export const STRANGERS_MAX = 50;
const STRANGERS_OF_ONE_HOST = 16;
/** Streams of a connection that may come before its session. */
export const EARLY_STREAMS_MAX = 16;

export class UnprovedConnections<Session> {
  private readonly clock: Clock;
  private readonly handshakeMs: number;
  private readonly unauthenticated: UnauthenticatedConnections<PeerConnection>;
  private readonly known = new WeakMap<PeerConnection, Unproved<Session>>();

  constructor({ handshakeMs, isKept }: UnprovedOptions, clock: Clock) {
    this.clock = clock;
    this.handshakeMs = handshakeMs;
    const [ofOneHost, inAll] = [STRANGERS_OF_ONE_HOST, STRANGERS_MAX];
    this.unauthenticated = createUnauthenticatedConnections({ ofOneHost, inAll, isKept });
  }

  /** An incoming connection. */
  arrive(connection: PeerConnection): void {
    const unproved = this.of(connection);
    unproved.isSilent = true;
    this.unauthenticated.add(connection, connection.remoteHost, () => connection.abort());
    const cancel = this.clock.after(this.handshakeMs, () => {
      if (unproved.isSilent) connection.abort();
    });
    connection.onClose(() => {
      cancel();
      this.unauthenticated.remove(connection);
    });
  }

  /** False for a second handshake, and for one on a connection that this node has dialled. */
  beginHandshake(connection: PeerConnection): boolean {
    const unproved = this.of(connection);
    const { isSilent } = unproved;
    unproved.isSilent = false;
    return isSilent;
  }

  succeed(connection: PeerConnection, session: Session): void {
    const unproved = this.of(connection);
    unproved.isSession = true;
    this.unauthenticated.remove(connection);
    unproved.outcome.resolve(session);
  }

  fail(connection: PeerConnection): void {
    this.of(connection).outcome.resolve(undefined);
  }

  /** The session that the connection becomes, or undefined. */
  sessionOf(connection: PeerConnection): Promise<Session | undefined> {
    return this.of(connection).outcome.promise;
  }

  /**
   * False for a stream that comes too early; a connection with many of them ends. The side that
   * answers a dial may finish the handshake first, so a few of its streams wait. The side that dials
   * knows when the handshake is over, so its earlier streams are refused.
   */
  mayOpenStream(connection: PeerConnection): boolean {
    const unproved = this.of(connection);
    if (unproved.isSession) return true;
    unproved.early += 1;
    if (unproved.early > EARLY_STREAMS_MAX) connection.abort();
    return connection.outbound && unproved.early <= EARLY_STREAMS_MAX;
  }

  private of(connection: PeerConnection): Unproved<Session> {
    const known = this.known.get(connection);
    if (known !== undefined) return known;
    const outcome = Promise.withResolvers<Session | undefined>();
    const unproved = { outcome, isSilent: false, isSession: false, early: 0 };
    this.known.set(connection, unproved);
    connection.onClose(() => outcome.resolve(undefined));
    return unproved;
  }
}
