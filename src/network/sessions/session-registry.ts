/**
 * All sessions of this node (network.md#handshake, network.md#registration, network.md#penalties).
 *
 * Invariants: one session for each owner; of two simultaneous connections that survives which the
 * lower owner address has dialled, so both ends choose the same; every owner is a member of the
 * network as of the present head (H-25); a connection without a session is served nothing but the
 * handshake and the question of network.md#first-start-of-a-node, and not for longer than the
 * handshake may take.
 */
import { unlessOurs } from '../../base/assert.ts';
import { compare, latin1 } from '../../base/bytes.ts';
import { within } from '../../base/deadline.ts';
import type { Network, PeerConnection, PeerStream, ProtocolLimits } from '../../base/network.ts';
import type { Clock, Log } from '../../base/ports.ts';
import { Recent } from '../../base/recent.ts';
import { createStrangers } from '../../base/strangers.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { HELLO_BYTES_MAX } from '../messages/handshake-messages.ts';
import {
  type ConnectedSession,
  createConnectedSession,
  type SessionPorts,
  type StreamHandler,
} from './connected-session.ts';
import { type Handshake, HandshakeRefused, type Identity, notPermitted } from './handshake.ts';
import { createPace, type Pace } from './pace.ts';
import type { Penalties } from './penalties.ts';
import { REQUEST_HEAD_BYTES } from './requests.ts';
import type { NoticeHandler, RequestHandler, Session, Sessions } from './session.ts';

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
  /** Tells the network about all protocols; before it listens. */
  announce(): void;
  /** Makes a session of a connection that this node has dialled. Rejects with the reason. */
  establish(connection: PeerConnection): Promise<Session>;
  /** Closes the sessions of owners that are no longer members. */
  evict(mayStay: (owner: Uint8Array) => boolean): void;
  stop(): Promise<void>;
}

const HANDSHAKE = 'hs/1.0.0';
const ALIVE = 'alive/1';
const ALIVE_MS_MAX = 20_000;
/** Requests that may wait at the transport beside those that are answered. */
const SPARE_STREAMS = 4;
/** Connections that have not become sessions yet. */
export const STRANGERS_MAX = 50;
const STRANGERS_OF_ONE_HOST = 16;
/** Streams of a connection that may come before its session. */
const EARLY_STREAMS_MAX = 16;
/** Paces of owners and protocols that are remembered; a new session does not make one forgotten. */
const PACES_MAX = 5_000;

/** Name of a protocol on the wire. */
export const wireNameOn =
  (scheme: ChainScheme) =>
  (protocol: string): string =>
    `/permchain/${String.fromCharCode(scheme.chainId)}/${protocol}`;

export function createSessions(options: SessionsOptions, ports: SessionsPorts): SessionRegistry {
  const { network, clock, log, scheme, handshake, penalties, ownAddress } = ports;
  const wireName = wireNameOn(scheme);
  const requests = new Map<string, RequestHandler>();
  const streams = new Map<string, StreamHandler>();
  const notices = new Map<string, NoticeHandler>();
  const byOwner = new Map<string, ConnectedSession>();
  const paces = new Recent<string, Pace>(PACES_MAX);
  const opened: ((session: Session) => void)[] = [];
  const closed: ((session: Session, reason: string) => void)[] = [];
  /** The session that each connection becomes; undefined: the handshake failed. */
  const outcomes = new WeakMap<
    PeerConnection,
    PromiseWithResolvers<ConnectedSession | undefined>
  >();
  /** Connections that others opened, until their handshake begins. */
  const silent = new WeakSet<PeerConnection>();
  /** Connections that have become sessions. */
  const settled = new WeakSet<PeerConnection>();
  /** And until it is over. */
  const strangers = createStrangers<PeerConnection>({
    ofOneHost: STRANGERS_OF_ONE_HOST,
    inAll: STRANGERS_MAX,
    isKept: (host) => ports.isConfigured(undefined, host),
  });
  /** Streams that have come too early. */
  const early = new WeakMap<PeerConnection, number>();
  const aliveMs = Math.min(ALIVE_MS_MAX, Math.floor(options.idleMs / 3));
  let stopped = false;
  let cancelTick = clock.after(aliveMs, tick);
  notices.set(ALIVE, { messageBytesMax: 0, take: () => {} });

  const sessionPorts: SessionPorts = {
    clock,
    wireName,
    requestHandler: (protocol) => requests.get(protocol),
    streamHandler: (protocol) => streams.get(protocol),
    paceOf(owner, protocol, limits) {
      const key = `${protocol} ${latin1(owner)}`;
      const pace = paces.get(key) ?? createPace(clock, limits);
      paces.set(key, pace);
      return pace;
    },
    onOffence(session, offence, detail) {
      const { owner, remoteHost: host } = session;
      const configured = ports.isConfigured(owner, host);
      const verdict = penalties.offend({ owner, host, configured }, offence, detail);
      log.warn('peer.offence', { owner: textOf(owner), host, offence, detail, verdict });
      if (verdict !== 'noted') session.close(`${offence}: ${detail}`);
    },
    onClose(session, reason) {
      const key = latin1(session.owner);
      if (byOwner.get(key) !== session) return;
      byOwner.delete(key);
      log.info('peer.closed', { owner: textOf(session.owner), reason });
      for (const action of closed) action(session, reason);
    },
  };

  const textOf = (owner: Uint8Array): string => scheme.addressToText(owner);

  function outcomeOf(connection: PeerConnection) {
    let outcome = outcomes.get(connection);
    if (outcome === undefined) {
      outcome = Promise.withResolvers<ConnectedSession | undefined>();
      outcomes.set(connection, outcome);
      const { resolve } = outcome;
      connection.onClose(() => resolve(undefined));
    }
    return outcome;
  }

  /** The reason why there is no session of this identity on this connection, or undefined. */
  function admit(identity: Identity, connection: PeerConnection): string | undefined {
    const { owner } = identity;
    const text = textOf(owner);
    if (stopped) return 'The node is stopping';
    const reason = penalties.blacklistReason(owner, connection.remoteHost);
    if (reason !== undefined) return `Peer with address '${text}' is blacklisted`;
    const existing = byOwner.get(latin1(owner));
    if (existing !== undefined) {
      const own = compare(ownAddress, owner) < 0;
      const simultaneous = existing.outbound !== connection.outbound;
      if (!simultaneous || connection.outbound !== own) {
        return `Connection to peer with address '${text}' already exists`;
      }
      existing.close('the other of two simultaneous connections is kept');
    }
    const { connectionsMax } = options;
    if (byOwner.size >= connectionsMax && !makeRoom(identity, connection)) {
      return `Node reached maximum number of allowed connections ('${connectionsMax}')`;
    }
    const session = createConnectedSession(identity, connection, sessionPorts);
    // A connection that ended during the check of the proof would leave a session that never closes.
    if (!session.isOpen()) return 'The connection has ended';
    byOwner.set(latin1(owner), session);
    strangers.remove(connection);
    settled.add(connection);
    const { nodeName, version, remoteHost: host, remotePort: port, outbound } = session;
    log.info('peer.connected', { owner: text, nodeName, version, host, port, outbound });
    outcomeOf(connection).resolve(session);
    for (const action of opened) action(session);
    return undefined;
  }

  /** The newest session of a node that the configuration does not name makes room for one that it names. */
  function makeRoom({ owner }: Identity, { remoteHost }: PeerConnection): boolean {
    if (!ports.isConfigured(owner, remoteHost)) return false;
    const other = [...byOwner.values()].findLast(
      (one) => !ports.isConfigured(one.owner, one.remoteHost),
    );
    other?.close('a peer of the configuration takes its place');
    return other !== undefined;
  }

  /** Runs a handshake to its end; a connection without a session is closed. */
  async function runHandshake(
    connection: PeerConnection,
    action: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const why = 'Timeout expired while waiting for handshake';
    try {
      await within(clock, options.handshakeMs, why, action);
    } catch (cause) {
      outcomeOf(connection).resolve(undefined);
      const { remoteHost: host, remotePort: port } = connection;
      const error = cause as Error;
      log.info('peer.refused', { host, port, why: error.message });
      if (error instanceof HandshakeRefused && error.forged) {
        const configured = ports.isConfigured(undefined, host);
        penalties.offend({ owner: undefined, host, configured }, 'forged-handshake', error.message);
      }
      // Nothing on its way is worth waiting for, except a refusal.
      if (error instanceof HandshakeRefused) await connection.close();
      else connection.abort();
      throw cause;
    }
  }

  function answerHandshake(stream: PeerStream, connection: PeerConnection): void {
    if (!silent.delete(connection)) {
      stream.abort();
      return;
    }
    runHandshake(connection, () =>
      handshake.answer(connection, stream, (identity) => admit(identity, connection)),
    ).catch(unlessOurs(() => {}));
  }

  function incoming(connection: PeerConnection): void {
    if (stopped || penalties.blacklistReason(undefined, connection.remoteHost) !== undefined) {
      connection.abort();
      return;
    }
    silent.add(connection);
    outcomeOf(connection);
    strangers.add(connection, connection.remoteHost, () => connection.abort());
    const cancel = clock.after(options.handshakeMs, () => {
      if (silent.has(connection)) connection.abort();
    });
    connection.onClose(() => {
      cancel();
      strangers.remove(connection);
    });
  }

  /**
   * The side that answers a dial may finish the handshake first, so a few of its streams wait. The
   * side that dials knows when the handshake is over, so its earlier streams are refused.
   */
  function isTooEarly(connection: PeerConnection): boolean {
    if (settled.has(connection)) return false;
    const count = 1 + (early.get(connection) ?? 0);
    early.set(connection, count);
    if (count > EARLY_STREAMS_MAX) connection.abort();
    return !connection.outbound || count > EARLY_STREAMS_MAX;
  }

  function serve(
    protocol: string,
    limits: ProtocolLimits,
    action: (session: ConnectedSession, stream: PeerStream) => Promise<void>,
  ): void {
    network.handle(wireName(protocol), limits, (stream, connection) => {
      if (isTooEarly(connection)) return stream.abort();
      void outcomeOf(connection).promise.then((session) => {
        if (session === undefined) stream.abort();
        else return action(session, stream);
      });
    });
  }

  function tick(): void {
    cancelTick = clock.after(aliveMs, tick);
    const now = clock.monotonic();
    for (const session of [...byOwner.values()]) {
      if (now - session.lastHeard() > options.idleMs) session.close('no message for too long');
      else session.notify(ALIVE, new Uint8Array(0));
    }
  }

  return {
    all: () => [...byOwner.values()],
    of: (owner) => byOwner.get(latin1(owner)),
    onOpen: (action) => void opened.push(action),
    onClose: (action) => void closed.push(action),
    handleRequests: (protocol, handler) => void requests.set(protocol, handler),
    handleStreams: (protocol, handler) => void streams.set(protocol, handler),
    handleNotices: (protocol, handler) => void notices.set(protocol, handler),

    announce() {
      network.onConnection(incoming);
      const once = { messageBytesMax: HELLO_BYTES_MAX, inboundStreamsMax: 1 };
      network.handle(wireName(HANDSHAKE), once, answerHandshake);
      for (const [protocol, handler] of requests) {
        const { concurrent } = handler;
        const messageBytesMax = REQUEST_HEAD_BYTES + handler.messageBytesMax;
        const inboundStreamsMax = concurrent + SPARE_STREAMS;
        serve(protocol, { messageBytesMax, inboundStreamsMax }, (session, stream) =>
          session.serveRequest(protocol, handler, stream),
        );
      }
      for (const [protocol, handler] of streams) {
        const { messageBytesMax, concurrent } = handler;
        const inboundStreamsMax = concurrent + SPARE_STREAMS;
        serve(protocol, { messageBytesMax, inboundStreamsMax }, (session, stream) =>
          session.serveStream(protocol, handler, stream),
        );
      }
      for (const [protocol, handler] of notices) {
        const { messageBytesMax } = handler;
        serve(protocol, { messageBytesMax, inboundStreamsMax: 1 }, (session, stream) =>
          session.serveNotices(protocol, handler, stream),
        );
      }
    },

    async establish(connection) {
      await runHandshake(connection, async (signal) => {
        const stream = await connection.open(wireName(HANDSHAKE), HELLO_BYTES_MAX, signal);
        await handshake.dial(connection, stream, (identity) => admit(identity, connection));
      });
      const session = await outcomeOf(connection).promise;
      if (session === undefined) throw new Error('the connection has ended');
      return session;
    },

    evict(mayStay) {
      for (const session of [...byOwner.values()]) {
        if (!mayStay(session.owner)) session.close(notPermitted(textOf(session.owner)));
      }
    },

    async stop() {
      stopped = true;
      cancelTick();
      for (const session of [...byOwner.values()]) session.close('the node is stopping');
    },
  };
}
