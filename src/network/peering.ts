/**
 * Wires all parts below gossip and sync together: transport, identity, handshake, sessions,
 * addresses, penalties. Services register their protocols with `sessions` before `start`.
 */
import type { Network } from '../base/network.ts';
import type { Clock, Files, Log, Random } from '../base/ports.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { addressText, type PeerAddress } from './messages/peer-address.ts';
import { type AddressBook, createAddressBook } from './peers/address-book.ts';
import { createBookKeeper } from './peers/book-keeper.ts';
import { createDialler } from './peers/dialler.ts';
import { serveIdentity } from './peers/identity-query.ts';
import { initialSync } from './peers/initial-sync.ts';
import { MemberKeys } from './peers/member-keys.ts';
import { OwnMembership } from './peers/own-membership.ts';
import { createExchange } from './peers/peer-exchange.ts';
import { createHandshake, type HandshakePorts } from './sessions/handshake.ts';
import { createPenalties, type Penalties } from './sessions/penalties.ts';
import { createSessions, type SessionRegistry } from './sessions/session-registry.ts';
import { STRANGERS_MAX } from './sessions/unproved-connections.ts';

export interface PeeringOptions {
  /** What this node says about itself in the handshake. */
  readonly hello: HandshakePorts['own'];
  readonly minimumVersion: HandshakePorts['minimumVersion'];
  readonly host: string;
  /** Undefined: the node accepts no connections. */
  readonly port: number | undefined;
  readonly knownPeers: readonly PeerAddress[];
  /** False: peers need no registered key. */
  readonly handshakeCheck: boolean;
  readonly connectionsMax: number;
  readonly handshakeMs: number;
  readonly idleMs: number;
  readonly dialDelayMs: number;
  readonly connectionMs: number;
  readonly exchange: boolean;
  readonly exchangeMs: number;
  readonly residenceMs: number;
  readonly suspensionMs: number;
  readonly blacklistMs: number;
  readonly blacklisting: boolean;
  readonly file: string | undefined;
}

export interface PeeringPorts {
  readonly network: Network;
  readonly scheme: ChainScheme;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files: Files | undefined;
  readonly owner: {
    readonly address: Uint8Array;
    readonly publicKey: Uint8Array;
    readonly sign: (message: Uint8Array) => Uint8Array;
  };
  readonly verify: HandshakePorts['verify'];
  readonly ephemeralKey: () => Uint8Array;
  /** Key of an address that is registered at the head. */
  readonly registeredKey: (address: Uint8Array) => Uint8Array | undefined;
}

export interface Peering {
  readonly scheme: ChainScheme;
  readonly sessions: SessionRegistry;
  readonly book: AddressBook;
  readonly penalties: Penalties;
  readonly membership: OwnMembership;
  /** Undefined while the node accepts no connections. */
  port(): number | undefined;
  /** Rejects with InitialSyncError where the node cannot join its network. */
  start(): Promise<void>;
  /**
   * Called after every change of the head: ends the sessions of owners that are no longer members
   * (H-25), and says where this node is one of them.
   */
  review(membersChanged: boolean): void;
  /** Dials at once. Rejects where the host has no address; does not wait for the connection. */
  connect(address: PeerAddress): Promise<void>;
  stop(): Promise<void>;
}

export function createPeering(options: PeeringOptions, ports: PeeringPorts): Peering {
  const { network, scheme, log, owner, registeredKey } = ports;
  const { handshakeCheck, connectionsMax, knownPeers } = options;
  const keys = new MemberKeys(handshakeCheck, ports);
  const isMember = (address: Uint8Array): boolean => keys.isMember(address);
  const book = createAddressBook(
    { configured: knownPeers, residenceMs: options.residenceMs, file: options.file },
    ports,
  );
  const { isConfigured } = book;
  const keeper = createBookKeeper(
    knownPeers.map(({ host }) => host),
    { ...ports, book },
  );
  const penalties = createPenalties(options, ports.clock);
  const handshake = createHandshake({
    ...ports,
    own: options.hello,
    minimumVersion: options.minimumVersion,
    sign: owner.sign,
    keyOf: (address, claimed) => keys.forHandshake(address, claimed),
  });
  const sessions = createSessions(options, {
    ...ports,
    handshake,
    penalties,
    isConfigured,
    ownAddress: owner.address,
  });
  const membership = new OwnMembership({
    owner: scheme.addressToText(owner.address),
    isRegistered: () => !handshakeCheck || registeredKey(owner.address) !== undefined,
    isConnected: () => sessions.all().length > 0,
    clock: ports.clock,
    log,
  });
  sessions.onOpen(() => membership.accepted());
  const dialler = createDialler(
    { connectionsMax, delayMs: options.dialDelayMs, connectionMs: options.connectionMs },
    { ...ports, book, sessions, penalties, isMember, membership },
  );
  const exchange = createExchange(
    { enabled: options.exchange, intervalMs: options.exchangeMs },
    { ...ports, sessions, book, resolve: network.resolve.bind(network) },
  );
  const identity = {
    ...ports,
    registeredKey: (address: Uint8Array) =>
      registeredKey(address) ?? (handshakeCheck ? undefined : owner.publicKey),
  };
  let port: number | undefined;

  async function listen(): Promise<void> {
    const { host, hello } = options;
    port = await network.listen({
      host,
      port: options.port,
      // A replaced session may still be closing when its successor connects.
      connectionsMax: connectionsMax + 2 * STRANGERS_MAX,
      isKept: (other) => isConfigured(undefined, other),
    });
    if (port !== undefined) {
      book.listensOn(port);
      log.info('network.listening', { host, port });
    }
    if (hello.declaredAddress !== undefined) book.exclude(hello.declaredAddress);
  }

  async function learnKeys(): Promise<void> {
    try {
      keys.learn(await initialSync(knownPeers, identity));
    } catch (cause) {
      await network.close();
      throw cause;
    }
  }

  return {
    scheme,
    sessions,
    book,
    penalties,
    membership,
    port: () => port,

    async start() {
      sessions.announce();
      serveIdentity(identity);
      await listen();
      if (handshakeCheck && registeredKey(owner.address) === undefined) await learnKeys();
      keeper.start();
      dialler.start();
    },

    review(membersChanged) {
      keys.review();
      membership.review();
      sessions.evict(isMember);
      if (membersChanged) book.review(isMember);
    },

    async connect(address) {
      await network.resolve(address.host);
      log.info('peer.asked-for', { place: addressText(address) });
      void dialler.attempt(address);
    },

    async stop() {
      dialler.stop();
      exchange.stop();
      keeper.stop();
      await sessions.stop();
      await network.close();
    },
  };
}
