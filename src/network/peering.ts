/**
 * Wires everything below gossip and sync together: transport, identity, handshake, sessions,
 * addresses, penalties. Services register their protocols with `sessions` before `start`.
 */
import { latin1 } from '../base/bytes.ts';
import type { Network } from '../base/network.ts';
import type { Clock, Files, Log, Random } from '../base/ports.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { addressText, type PeerAddress } from './messages/peer-address.ts';
import { type AddressBook, createAddressBook } from './peers/address-book.ts';
import { createDialler } from './peers/dialler.ts';
import { serveIdentity } from './peers/identity-query.ts';
import { initialSync } from './peers/initial-sync.ts';
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
  /** Undefined while the node accepts no connections. */
  port(): number | undefined;
  /** Rejects with InitialSyncError where the node cannot join its network. */
  start(): Promise<void>;
  /** After every change of the head: sessions of those who are no members any more end (H-25). */
  review(membersChanged: boolean): void;
  /** Dials at once. Rejects where the host has no address; does not wait for the connection. */
  connect(address: PeerAddress): Promise<void>;
  stop(): Promise<void>;
}

const SAVE_MS = 300_000;

export function createPeering(options: PeeringOptions, ports: PeeringPorts): Peering {
  const { network, scheme, clock, log, owner, registeredKey } = ports;
  const { handshakeCheck, connectionsMax } = options;
  const book = createAddressBook(
    { configured: options.knownPeers, residenceMs: options.residenceMs, file: options.file },
    ports,
  );
  const penalties = createPenalties(options, clock);
  /** Keys that configured peers have sent, until the state holds them. */
  const learned = new Map<string, Uint8Array>();

  function memberKey(address: Uint8Array): Uint8Array | undefined {
    return registeredKey(address) ?? learned.get(latin1(address));
  }
  const isMember = (address: Uint8Array): boolean =>
    !handshakeCheck || memberKey(address) !== undefined;

  const handshake = createHandshake({
    ...ports,
    own: options.hello,
    minimumVersion: options.minimumVersion,
    sign: owner.sign,
    keyOf: (address, claimed) => (handshakeCheck ? memberKey(address) : claimed),
  });
  const { isConfigured } = book;
  const sessions = createSessions(options, {
    ...ports,
    handshake,
    penalties,
    isConfigured,
    ownAddress: owner.address,
  });
  const dialler = createDialler(
    {
      connectionsMax,
      delayMs: options.dialDelayMs,
      connectionMs: options.connectionMs,
    },
    { ...ports, book, sessions, penalties, isMember },
  );
  const exchange = createExchange(
    { enabled: options.exchange, intervalMs: options.exchangeMs },
    { sessions, book, clock, scheme, resolve: network.resolve.bind(network) },
  );
  const identity = {
    ...ports,
    registeredKey: (address: Uint8Array) =>
      registeredKey(address) ?? (handshakeCheck ? undefined : owner.publicKey),
  };
  let port: number | undefined;
  let cancelSave = (): void => {};

  function saveAndAgain(): void {
    cancelSave = clock.after(SAVE_MS, saveAndAgain);
    save();
    for (const { host } of options.knownPeers) void locate(host);
  }

  /** A configured host is known again by its address in digits, which may change. */
  async function locate(host: string): Promise<void> {
    try {
      book.locate(host, await network.resolve(host));
    } catch (cause) {
      log.debug('peer.unknown-host', { host, why: (cause as Error).message });
    }
  }

  function save(): void {
    try {
      book.save();
    } catch (cause) {
      log.warn('peers.not-saved', { why: (cause as Error).message });
    }
  }

  async function learnKeys(): Promise<void> {
    try {
      for (const key of await initialSync(options.knownPeers, identity)) {
        learned.set(latin1(scheme.addressOf(key)), key);
      }
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
    port: () => port,

    async start() {
      sessions.announce();
      serveIdentity(identity);
      port = await network.listen({
        host: options.host,
        port: options.port,
        // A replaced session may still be closing when its successor connects.
        connectionsMax: connectionsMax + 2 * STRANGERS_MAX,
        isKept: (host) => isConfigured(undefined, host),
      });
      if (port !== undefined) {
        book.listensOn(port);
        log.info('network.listening', { host: options.host, port });
      }
      if (options.hello.declaredAddress !== undefined) book.exclude(options.hello.declaredAddress);
      if (handshakeCheck && registeredKey(owner.address) === undefined) {
        await learnKeys();
      }
      for (const { host } of options.knownPeers) void locate(host);
      dialler.start();
      cancelSave = clock.after(SAVE_MS, saveAndAgain);
    },

    review(membersChanged) {
      for (const [key, publicKey] of learned) {
        if (registeredKey(scheme.addressOf(publicKey)) !== undefined) learned.delete(key);
      }
      sessions.evict(isMember);
      if (membersChanged) book.forget(isMember);
    },

    async connect(address) {
      await network.resolve(address.host);
      log.info('peer.asked-for', { place: addressText(address) });
      void dialler.attempt(address);
    },

    async stop() {
      dialler.stop();
      exchange.stop();
      cancelSave();
      save();
      await sessions.stop();
      await network.close();
    },
  };
}
