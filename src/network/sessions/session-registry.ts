/**
 * All sessions of this node (network.md#handshake, network.md#registration, network.md#penalties):
 * a connection is unproved (unproved-connections.ts) until its handshake is over (entrance.ts), then
 * it is a session in the table (session-table.ts) and served by protocol (protocols.ts).
 *
 * Invariants: every owner is a member of the network at the current head (H-25); a connection
 * without a session can only use the handshake and the question of
 * network.md#first-start-of-a-node, for at most the time of a handshake.
 */
import type { Network, PeerConnection } from '../../base/network.ts';
import type { Clock, Log } from '../../base/ports.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { HELLO_BYTES_MAX } from '../messages/handshake-messages.ts';
import type { Identity } from './check-peer.ts';
import type { ConnectedSession, StreamHandler } from './connected-session.ts';
import { createEntrance } from './entrance.ts';
import type { Handshake } from './handshake.ts';
import { notPermitted } from './handshake-refused.ts';
import { ALIVE, aliveHandler, startHeartbeat } from './heartbeat.ts';
import { openSession, type SessionPorts } from './open-session.ts';
import { Paces } from './pace.ts';
import type { Penalties } from './penalties.ts';
import { Protocols } from './protocols.ts';
import type { Session, Sessions } from './session.ts';
import { SessionTable } from './session-table.ts';
import { UnprovedConnections } from './unproved-connections.ts';

export interface SessionsOptions {
  readonly connectionsMax: number;
  readonly handshakeMs: number;
  /** Silence after which a session is closed. */
  readonly idleMs: number;
}

export interface SessionsPorts {
  readonly network: Network;
  readonly clock: Clock;
  readonly log: Log;
  readonly scheme: ChainScheme;
  readonly handshake: Handshake;
  readonly penalties: Penalties;
  readonly ownAddress: Uint8Array;
  /** True for a node that the configuration names. */
  readonly isConfigured: (owner: Uint8Array | undefined, host: string) => boolean;
}

export interface SessionRegistry extends Sessions {
  all(): readonly ConnectedSession[];
  of(owner: Uint8Array): ConnectedSession | undefined;
  /** Call before the network starts. */
  handleStreams(protocol: string, handler: StreamHandler): void;
  /** Registers all protocols with the network; must run before the network listens. */
  announce(): void;
  /** Makes a session of a connection that this node has dialled. Rejects with the reason. */
  establish(connection: PeerConnection): Promise<Session>;
  /** Closes the sessions of owners that are no longer members. */
  evict(mayStay: (owner: Uint8Array) => boolean): void;
  stop(): Promise<void>;
}

const HANDSHAKE = 'hs/1.0.0';

/** Name of a protocol on the wire. */
export const wireNameOn =
  (scheme: ChainScheme) =>
  (protocol: string): string =>
    `/permchain/${String.fromCharCode(scheme.chainId)}/${protocol}`;

export function createSessions(options: SessionsOptions, ports: SessionsPorts): SessionRegistry {
  const { network, clock, log, scheme, penalties, ownAddress, isConfigured } = ports;
  const { connectionsMax, handshakeMs, idleMs } = options;
  const wireName = wireNameOn(scheme);
  const textOf = (owner: Uint8Array): string => scheme.addressToText(owner);
  const protocols = new Protocols();
  const table = new SessionTable<ConnectedSession>({ ownAddress, connectionsMax, isConfigured });
  const opened: ((session: Session) => void)[] = [];
  const closed: ((session: Session, reason: string) => void)[] = [];
  const unproved = new UnprovedConnections<ConnectedSession>(
    { handshakeMs, isKept: (host) => isConfigured(undefined, host) },
    clock,
  );
  const entrance = createEntrance(handshakeMs, { ...ports, unproved, admit });
  const stopHeartbeat = startHeartbeat(idleMs, clock, () => table.all());
  protocols.notices.set(ALIVE, aliveHandler);
  let stopped = false;

  const sessionPorts: SessionPorts = {
    clock,
    wireName,
    requestHandler: (protocol) => protocols.requests.get(protocol),
    streamHandler: (protocol) => protocols.streams.get(protocol),
    paces: new Paces(clock),
    onOffence(session, offence, { message: detail }) {
      const { owner, remoteHost: host } = session;
      const configured = isConfigured(owner, host);
      const verdict = penalties.offend({ owner, host, configured }, offence, detail);
      log.warn('peer.offence', { owner: textOf(owner), host, offence, detail, verdict });
      if (verdict !== 'noted') session.close(`${offence}: ${detail}`);
    },
    onClose(session, reason) {
      if (!table.remove(session)) return;
      log.info('peer.closed', { owner: textOf(session.owner), reason });
      for (const action of closed) action(session, reason);
    },
  };

  /** The session, or the reason why this identity gets none on this connection. */
  function admit(identity: Identity, connection: PeerConnection): ConnectedSession | string {
    const { owner } = identity;
    const text = textOf(owner);
    if (stopped) return 'The node is stopping';
    const { remoteHost: host, remotePort: port, remoteId, outbound } = connection;
    penalties.prove(owner, remoteId);
    const reason = penalties.blacklistReason(owner, host);
    if (reason !== undefined) return `Peer with address '${text}' is blacklisted`;
    const problem = table.makePlace({ owner, remoteHost: host, outbound });
    if (problem === 'exists') return `Connection to peer with address '${text}' already exists`;
    if (problem === 'full') {
      return `Node reached maximum number of allowed connections ('${connectionsMax}')`;
    }
    const session = openSession(identity, connection, sessionPorts);
    // A connection that ended during the check of the proof would leave a session that never closes.
    if (!session.isOpen()) return 'The connection has ended';
    table.add(session);
    const { nodeName, version } = session;
    log.info('peer.connected', { owner: text, nodeName, version, host, port, outbound });
    for (const action of opened) action(session);
    return session;
  }

  function incoming(connection: PeerConnection): void {
    const { remoteHost: host, remoteId } = connection;
    const isRefused = penalties.blacklistReason(undefined, host) !== undefined;
    if (stopped || isRefused || !penalties.mayBegin(host, remoteId)) connection.abort();
    else unproved.arrive(connection);
  }

  return {
    all: () => table.all(),
    of: (owner) => table.get(owner),
    onOpen: (action) => void opened.push(action),
    onClose: (action) => void closed.push(action),
    handleRequests: (protocol, handler) => void protocols.requests.set(protocol, handler),
    handleStreams: (protocol, handler) => void protocols.streams.set(protocol, handler),
    handleNotices: (protocol, handler) => void protocols.notices.set(protocol, handler),

    announce() {
      network.onConnection(incoming);
      const once = { messageBytesMax: HELLO_BYTES_MAX, inboundStreamsMax: 1 };
      network.handle(wireName(HANDSHAKE), once, entrance.answer);
      for (const { protocol, limits, serve } of protocols.all()) {
        network.handle(wireName(protocol), limits, (stream, connection) => {
          if (!unproved.mayOpenStream(connection)) return stream.abort();
          void unproved.sessionOf(connection).then((session) => {
            if (session === undefined) stream.abort();
            else return serve(session, stream);
          });
        });
      }
    },

    establish: (connection) => entrance.dial(connection, wireName(HANDSHAKE)),

    evict(mayStay) {
      for (const session of table.all()) {
        if (!mayStay(session.owner)) session.close(notPermitted(textOf(session.owner)));
      }
    },

    async stop() {
      stopped = true;
      stopHeartbeat();
      for (const session of table.all()) session.close('the node is stopping');
    },
  };
}
