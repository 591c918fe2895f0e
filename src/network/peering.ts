/**
 * Wires all parts below gossip and sync together: transport, identity, handshake, sessions,
 * addresses, penalties. Services register their protocols with `sessions` before `start`.
 */

import { DisposedError } from '../base/disposal.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Files } from '../base/ports/files.ts';
import type { Log } from '../base/ports/log.ts';
import type { Network } from '../base/ports/network.ts';
import type { Random } from '../base/ports/random.ts';
import type { SigningAccount } from '../base/signer/signing.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { VITAL_HOLDERS_MAX } from '../ledger/role-holders.ts';
import { addressText, type PeerAddress } from './messages/peer-address.ts';
import { AddressBook } from './peers/address-book.ts';
import { type BookKeeper, createBookKeeper } from './peers/book-keeper.ts';
import { Dialler } from './peers/dialler.ts';
import { type IdentityPorts, serveIdentity } from './peers/identity-query.ts';
import { initialSync } from './peers/initial-sync.ts';
import { MemberKeys } from './peers/member-keys.ts';
import { MissedMembers } from './peers/missed-members.ts';
import { OwnMembership } from './peers/own-membership.ts';
import { Exchange } from './peers/peer-exchange.ts';
import { Handshake, type HandshakeDeps } from './sessions/handshake.ts';
import { Penalties } from './sessions/penalties.ts';
import { SessionRegistry } from './sessions/session-registry.ts';
import { type NetworkMiners, NODES_OF_MINER } from './sessions/session-table.ts';
import { STRANGERS_MAX } from './sessions/unproved-connections.ts';

export interface PeeringOptions {
  /** What this node says about itself in the handshake. */
  readonly hello: HandshakeDeps['own'];
  readonly minimumVersion: HandshakeDeps['minimumVersion'];
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

export interface PeeringDeps {
  readonly network: Network;
  readonly scheme: ChainScheme;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files?: Files | undefined;
  readonly owner: SigningAccount;
  readonly verify: HandshakeDeps['verify'];
  readonly ephemeralKey: () => Uint8Array;
  /** Key of an address that is registered at the head. */
  readonly registeredKey: (address: Uint8Array) => Uint8Array | undefined;
  /** Timestamp of the head. */
  readonly headTime: () => number;
  readonly miners: () => NetworkMiners;
}

export class Peering {
  readonly scheme: ChainScheme;
  readonly sessions: SessionRegistry;
  readonly book: AddressBook;
  readonly penalties: Penalties;
  readonly membership: OwnMembership;
  private readonly options: PeeringOptions;
  private readonly deps: PeeringDeps;
  private readonly keys: MemberKeys;
  /** Who this node is, for the question of network.md#first-start-of-a-node. */
  private readonly identity: IdentityPorts & { readonly log: Log };
  private readonly keeper: BookKeeper;
  private readonly missed: MissedMembers;
  private readonly dialler: Dialler;
  private readonly exchange: Exchange;
  private readonly ending = new AbortController();

  constructor(options: PeeringOptions, deps: PeeringDeps) {
    const { owner, scheme, clock, log } = deps;
    this.options = options;
    this.deps = deps;
    this.scheme = scheme;
    this.keys = new MemberKeys(options.handshakeCheck, deps);
    const own = options.handshakeCheck ? undefined : owner.publicKey;
    this.identity = { ...deps, registeredKey: (address) => deps.registeredKey(address) ?? own };
    this.book = new AddressBook(options, deps);
    const isKept = (host: string): boolean => this.book.isConfigured(undefined, host);
    this.penalties = new Penalties({ ...options, isKept }, clock);
    this.sessions = new SessionRegistry(options, {
      ...deps,
      handshake: this.handshake(),
      penalties: this.penalties,
      isConfigured: (owner, host) => this.book.isConfigured(owner, host),
      ownAddress: owner.address,
    });
    this.membership = new OwnMembership({
      owner: scheme.addressToText(owner.address),
      isRegistered: () => !options.handshakeCheck || this.isRegistered(),
      isConnected: () => this.sessions.all().length > 0,
      clock,
      log,
    });
    const { book, sessions, penalties, membership } = this;
    const hosts = options.knownPeers.map(({ host }) => host);
    this.keeper = createBookKeeper(hosts, { ...deps, book });
    const isMember = (address: Uint8Array): boolean => this.keys.isMember(address);
    this.missed = new MissedMembers(options.knownPeers, {
      identity: this.identity,
      headTime: deps.headTime,
      hasSession: () => this.sessions.all().length > 0,
      learn: (keys) => this.keys.learn(keys, clock.now()),
    });
    this.dialler = new Dialler(options, {
      ...deps,
      book,
      sessions,
      penalties,
      isMember,
      membership,
    });
    const resolve = (host: string): Promise<string> => deps.network.resolve(host);
    this.exchange = new Exchange(options, { ...deps, sessions, book, resolve });
  }

  /** Rejects with InitialSyncError where the node cannot join its network, with DisposedError after a stop. */
  async start(): Promise<void> {
    this.sessions.onOpen(() => this.membership.accepted());
    this.exchange.start();
    this.sessions.start();
    serveIdentity(this.identity);
    await this.listen();
    if (this.options.handshakeCheck && !this.isRegistered()) await this.learnKeys();
    this.ending.signal.throwIfAborted();
    this.keeper.start();
    this.dialler.start();
    if (this.options.handshakeCheck) this.missed.start();
  }

  /**
   * Called after every change of the head: ends the sessions of owners that are no longer members
   * (H-25), and says where this node is one of them.
   */
  review(membersChanged: boolean): void {
    const areForgotten = this.keys.review(this.deps.headTime());
    this.membership.review();
    const isMember = (address: Uint8Array): boolean => this.keys.isMember(address);
    this.sessions.evict(isMember);
    if (membersChanged || areForgotten) this.book.review(isMember);
  }

  /** Dials at once. Rejects where the host has no address; does not wait for the connection. */
  async connect(address: PeerAddress): Promise<void> {
    await this.deps.network.resolve(address.host);
    this.deps.log.info('peer.asked-for', { place: addressText(address) });
    void this.dialler.attempt(address);
  }

  async stop(): Promise<void> {
    this.ending.abort(new DisposedError());
    this.missed.stop();
    this.dialler.stop();
    this.exchange.stop();
    this.keeper.stop();
    await this.sessions.stop();
    await this.deps.network.close();
  }

  private handshake(): Handshake {
    const { hello, minimumVersion } = this.options;
    return new Handshake({
      ...this.deps,
      own: hello,
      minimumVersion,
      sign: this.deps.owner.sign,
      keyOf: (address, claimed) => this.keys.forHandshake(address, claimed),
    });
  }

  private isRegistered(): boolean {
    return this.deps.registeredKey(this.deps.owner.address) !== undefined;
  }

  private async listen(): Promise<void> {
    const { host, hello, connectionsMax } = this.options;
    const { network, log } = this.deps;
    const port = await network.listen({
      host,
      port: this.options.port,
      // Those of miners may be beside the others. A replaced session may still be closing when its successor
      // connects.
      connectionsMax: connectionsMax + NODES_OF_MINER * VITAL_HOLDERS_MAX + 2 * STRANGERS_MAX,
      isKept: (other) => this.book.isConfigured(undefined, other),
    });
    if (port !== undefined) {
      this.book.listensOn(port);
      log.info('network.listening', { host, port });
    }
    if (hello.declaredAddress !== undefined) this.book.exclude(hello.declaredAddress);
  }

  private async learnKeys(): Promise<void> {
    try {
      const keys = await initialSync(this.options.knownPeers, this.identity, this.ending.signal);
      this.keys.learn(keys, this.deps.clock.now());
    } catch (cause) {
      await this.deps.network.close();
      throw cause;
    }
  }
}
