/**
 * From a connection to a session: the handshake at either end of a dial, in limited time. A
 * connection whose handshake fails is closed.
 */
import { unlessOurs } from '../../base/assert.ts';
import { within } from '../../base/deadline.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { PeerConnection, PeerStream } from '../../base/ports/network.ts';
import { HELLO_BYTES_MAX } from '../messages/handshake-messages.ts';
import type { Identity } from './check-peer.ts';
import type { Handshake } from './handshake.ts';
import { HandshakeRefused } from './handshake-refused.ts';
import type { Penalties } from './penalties.ts';
import type { UnprovedConnections } from './unproved-connections.ts';

export interface EntrancePorts<Session> {
  readonly clock: Clock;
  readonly log: Log;
  readonly handshake: Handshake;
  readonly penalties: Penalties;
  readonly unproved: UnprovedConnections<Session>;
  /** Opens the session of a proved identity; otherwise the reason why there is none. */
  readonly admit: (identity: Identity, connection: PeerConnection) => Session | string;
  /** The reason why this node has no place for somebody whom it has dialled, and who has not proved it. */
  readonly hasPlace: (identity: Identity, connection: PeerConnection) => string | undefined;
}

export interface Entrance<Session> {
  /** Runs the handshake on an incoming connection. */
  answer(stream: PeerStream, connection: PeerConnection): void;
  /** Runs the handshake on a connection that this node has dialled. Rejects with the reason. */
  dial(connection: PeerConnection, protocol: string): Promise<Session>;
}

export function createEntrance<Session>(
  handshakeMs: number,
  ports: EntrancePorts<Session>,
): Entrance<Session> {
  const { clock, log, handshake, penalties, unproved } = ports;

  const admitOn = (connection: PeerConnection) => (identity: Identity) => {
    const admitted = ports.admit(identity, connection);
    if (typeof admitted === 'string') return admitted;
    unproved.succeed(connection, admitted);
    return undefined;
  };

  /** Runs a handshake to its end. */
  async function run(
    connection: PeerConnection,
    action: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    try {
      const why = 'Timeout expired while waiting for handshake';
      await within(clock, handshakeMs, why, action);
    } catch (cause) {
      unproved.fail(connection);
      await refuse(connection, cause as Error);
      throw cause;
    }
  }

  async function refuse(connection: PeerConnection, error: Error): Promise<void> {
    const { remoteHost: host, remotePort: port } = connection;
    log.info('peer.refused', { host, port, why: error.message });
    if (error instanceof HandshakeRefused && error.forged) {
      const isNews = penalties.offendUnproved(host, 'forged-handshake');
      if (isNews) log.warn('peer.limited', { host, why: error.message });
    }
    // Pending data are not worth waiting for, except a refusal.
    if (error instanceof HandshakeRefused) await connection.close();
    else connection.abort();
  }

  return {
    answer(stream, connection) {
      if (!unproved.beginHandshake(connection)) return stream.abort();
      run(connection, () => handshake.answer(connection, stream, admitOn(connection))).catch(
        unlessOurs(() => {}),
      );
    },

    async dial(connection, protocol) {
      await run(connection, async (signal) => {
        const stream = await connection.open(protocol, HELLO_BYTES_MAX, signal);
        const hasPlace = (identity: Identity) => ports.hasPlace(identity, connection);
        await handshake.dial(connection, stream, { admit: admitOn(connection), hasPlace });
      });
      const session = await unproved.sessionOf(connection);
      if (session === undefined) throw new Error('the connection has ended');
      return session;
    },
  };
}
