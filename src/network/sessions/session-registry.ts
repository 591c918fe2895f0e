/**
 * All sessions of this node (network.md#handshake, network.md#registration, network.md#penalties):
 * a connection is unproved (unproved-connections.ts) until its handshake is over (entrance.ts), then
 * it is a session in the table (session-table.ts) and served by protocol (protocols.ts).
 *
 * Invariants: every owner is a member of the network at the current head (H-25); a connection
 * without a session can only use the handshake and the question of
 * network.md#first-start-of-a-node, for at most the time of a handshake.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Network, PeerConnection } from '../../base/ports/network.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { Evidence } from '../../codec/evidence.ts';
import { HELLO_BYTES_MAX } from '../messages/handshake-messages.ts';
import type { Identity } from './check-peer.ts';
import type { ConnectedSession, StreamHandler } from './connected-session.ts';
import { createEntrance, type Entrance } from './entrance.ts';
import type { Handshake } from './handshake.ts';
import { notPermitted } from './handshake-refused.ts';
import { ALIVE, aliveHandler, startHeartbeat } from './heartbeat.ts';
import { openSession, type SessionPorts } from './open-session.ts';
import { Paces } from './pace.ts';
import type { Penalties } from './penalties.ts';
import { Protocols } from './protocols.ts';
import type { NoticeHandler, Offence, RequestHandler, Session, Sessions } from './session.ts';
import { type Applicant, type NetworkMiners, type Room, SessionTable } from './session-table.ts';
import { UnprovedConnections } from './unproved-connections.ts';

export interface SessionsOptions {
  readonly connectionsMax: number;
  readonly handshakeMs: number;
  /** Silence after which a session is closed. */
  readonly idleMs: number;
}

export interface SessionsDeps {
  readonly network: Network;
  readonly clock: Clock;
  readonly log: Log;
  readonly scheme: ChainScheme;
  readonly handshake: Handshake;
  readonly penalties: Penalties;
  readonly ownAddress: Uint8Array;
  /** True for a node that the configuration names. */
  readonly isConfigured: (owner: Uint8Array | undefined, host: string) => boolean;
  readonly miners: () => NetworkMiners;
}

const HANDSHAKE = 'hs/1.0.0';
/** A node that stops leaves requests without an answer a moment before its connection ends. */
const ENDING_MS = 2000;
/** What one session withholds meanwhile; so many are more than enough for the blacklist. */
const WITHHELD_MAX = 20;

interface Postponed {
  readonly evidence: Evidence[];
  readonly cancel: () => void;
}

const applicantOf = ({ owner, miner, hello }: Identity, at: PeerConnection): Applicant => ({
  owner,
  miner,
  mode: hello.mode,
  remoteHost: at.remoteHost,
  outbound: at.outbound,
});

/** Name of a protocol on the wire. */
export const wireNameOn =
  (scheme: ChainScheme) =>
  (protocol: string): string =>
    `/permchain/${String.fromCharCode(scheme.chainId)}/${protocol}`;

export class SessionRegistry implements Sessions {
  private readonly options: SessionsOptions;
  private readonly deps: SessionsDeps;
  private readonly wireName: (protocol: string) => string;
  private readonly protocols = new Protocols();
  private readonly table: SessionTable<ConnectedSession>;
  private readonly opened: ((session: Session) => void)[] = [];
  private readonly closed: ((session: Session, reason: string) => void)[] = [];
  private readonly unproved: UnprovedConnections<ConnectedSession>;
  private readonly entrance: Entrance<ConnectedSession>;
  private readonly sessionPorts: SessionPorts;
  private stopHeartbeat: (() => void) | undefined;
  /** What each session may have withheld, or could not give because it ends. */
  private readonly postponed = new Map<ConnectedSession, Postponed>();
  private stopped = false;

  constructor(options: SessionsOptions, deps: SessionsDeps) {
    const { clock, scheme, isConfigured, miners, ownAddress } = deps;
    const { handshakeMs } = options;
    this.options = options;
    this.deps = deps;
    this.wireName = wireNameOn(scheme);
    this.table = new SessionTable({ ...options, ownAddress, isConfigured, miners });
    this.unproved = new UnprovedConnections(
      { handshakeMs, isKept: (host) => isConfigured(undefined, host) },
      clock,
    );
    this.entrance = createEntrance(handshakeMs, {
      ...deps,
      unproved: this.unproved,
      admit: (identity, connection) => this.admit(identity, connection),
      hasPlace: (identity, connection) =>
        this.table.hasPlaceFor(applicantOf(identity, connection)) ? undefined : this.full(),
    });
    this.sessionPorts = {
      clock,
      wireName: this.wireName,
      requestHandler: (protocol) => this.protocols.requests.get(protocol),
      streamHandler: (protocol) => this.protocols.streams.get(protocol),
      paces: new Paces(clock),
      onOffence: (session, offence, evidence) => this.offended(session, offence, evidence),
      onClose: (session, reason) => this.leave(session, reason),
    };
    this.protocols.notices.set(ALIVE, aliveHandler);
  }

  all(): readonly ConnectedSession[] {
    return this.table.all();
  }

  room(): Room {
    return this.table.room();
  }

  of(owner: Uint8Array): ConnectedSession | undefined {
    return this.table.get(owner);
  }

  onOpen(action: (session: Session) => void): void {
    this.opened.push(action);
  }

  onClose(action: (session: Session, reason: string) => void): void {
    this.closed.push(action);
  }

  handleRequests(protocol: string, handler: RequestHandler): void {
    this.protocols.requests.set(protocol, handler);
  }

  /** Call before the network starts. */
  handleStreams(protocol: string, handler: StreamHandler): void {
    this.protocols.streams.set(protocol, handler);
  }

  handleNotices(protocol: string, handler: NoticeHandler): void {
    this.protocols.notices.set(protocol, handler);
  }

  /** Registers all protocols with the network; must run before the network listens. */
  start(): void {
    const { network, clock } = this.deps;
    this.stopHeartbeat = startHeartbeat(this.options.idleMs, clock, () => this.table.all());
    network.onConnection((connection) => this.incoming(connection));
    const once = { messageBytesMax: HELLO_BYTES_MAX, inboundStreamsMax: 1 };
    network.handle(this.wireName(HANDSHAKE), once, this.entrance.answer);
    for (const { protocol, limits, serve } of this.protocols.all()) {
      network.handle(this.wireName(protocol), limits, (stream, connection) => {
        if (!this.unproved.mayOpenStream(connection)) return stream.abort();
        void this.unproved.sessionOf(connection).then((session) => {
          if (session === undefined) stream.abort();
          else return serve(session, stream);
        });
      });
    }
  }

  /** Makes a session of a connection that this node has dialled. Rejects with the reason. */
  establish(connection: PeerConnection): Promise<Session> {
    return this.entrance.dial(connection, this.wireName(HANDSHAKE));
  }

  /** Closes the sessions of owners that are no longer members. */
  evict(mayStay: (owner: Uint8Array) => boolean): void {
    for (const session of this.table.all()) {
      if (!mayStay(session.owner)) session.close(notPermitted(this.textOf(session.owner)));
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.stopHeartbeat?.();
    for (const { cancel } of this.postponed.values()) cancel();
    this.postponed.clear();
    for (const session of this.table.all()) session.close('the node is stopping');
  }

  /** The session, or the reason why this identity gets none on this connection. */
  private admit(identity: Identity, connection: PeerConnection): ConnectedSession | string {
    const { penalties, log } = this.deps;
    const { owner } = identity;
    const text = this.textOf(owner);
    if (this.stopped) return 'The node is stopping';
    const { remoteHost: host, remotePort: port, remoteId, outbound } = connection;
    penalties.prove(owner, remoteId);
    const reason = penalties.blacklistReason(owner, host);
    if (reason !== undefined) return `Peer with address '${text}' is blacklisted`;
    const problem = this.table.makePlace(applicantOf(identity, connection));
    if (problem === 'exists') return `Connection to peer with address '${text}' already exists`;
    if (problem === 'full') return this.full();
    const session = openSession(identity, connection, this.sessionPorts);
    // A connection that ended during the check of the proof would leave a session that never closes.
    if (!session.isOpen()) return 'The connection has ended';
    this.table.add(session);
    const { nodeName, version } = session;
    log.info('peer.connected', { owner: text, nodeName, version, host, port, outbound });
    for (const action of this.opened) action(session);
    return session;
  }

  private full(): string {
    return `Node reached maximum number of allowed connections ('${this.options.connectionsMax}')`;
  }

  private incoming(connection: PeerConnection): void {
    const { penalties } = this.deps;
    const { remoteHost: host, remoteId } = connection;
    const isRefused = penalties.blacklistReason(undefined, host) !== undefined;
    if (this.stopped || isRefused || !penalties.mayBegin(host, remoteId)) connection.abort();
    else this.unproved.arrive(connection);
  }

  private offended(session: ConnectedSession, offence: Offence, evidence: Evidence): void {
    if (offence !== 'withheld') {
      this.punish(session, offence, evidence);
      return;
    }
    if (!session.isOpen()) return;
    const waiting = this.postponed.get(session) ?? this.postpone(session);
    if (waiting.evidence.length < WITHHELD_MAX) waiting.evidence.push(evidence);
  }

  private postpone(session: ConnectedSession): Postponed {
    const evidence: Evidence[] = [];
    const cancel = this.deps.clock.after(ENDING_MS, () => {
      this.postponed.delete(session);
      for (const one of evidence) if (session.isOpen()) this.punish(session, 'withheld', one);
    });
    const postponed = { evidence, cancel };
    this.postponed.set(session, postponed);
    return postponed;
  }

  private punish(session: Session, offence: Offence, { message: detail }: Evidence): void {
    const { penalties, log, isConfigured } = this.deps;
    const { owner, remoteHost: host } = session;
    const configured = isConfigured(owner, host);
    const verdict = penalties.offend({ owner, host, configured }, offence, detail);
    log.warn('peer.offence', { owner: this.textOf(owner), host, offence, detail, verdict });
    if (verdict !== 'noted') session.close(`${offence}: ${detail}`);
  }

  private leave(session: ConnectedSession, reason: string): void {
    if (!this.table.remove(session)) return;
    this.deps.log.info('peer.closed', { owner: this.textOf(session.owner), reason });
    for (const action of this.closed) action(session, reason);
  }

  private textOf(owner: Uint8Array): string {
    return this.deps.scheme.addressToText(owner);
  }
}
