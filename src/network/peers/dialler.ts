/**
 * Opens connections (network.md#addresses-of-nodes): all configured nodes at the start, then one
 * random address every `attempt-connection-delay`. An address that failed is not dialled for a
 * while.
 */
import { latin1 } from '../../base/bytes.ts';
import { within } from '../../base/deadline.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Network } from '../../base/ports/network.ts';
import { every } from '../../concurrency/interval.ts';
import { addressText, type PeerAddress } from '../messages/peer-address.ts';
import { HandshakeRefused } from '../sessions/handshake-refused.ts';
import type { Penalties } from '../sessions/penalties.ts';
import type { SessionRegistry } from '../sessions/session-registry.ts';
import type { Room } from '../sessions/session-table.ts';
import type { AddressBook, Place } from './address-book.ts';
import type { OwnMembership } from './own-membership.ts';

export interface DiallerOptions {
  readonly dialDelayMs: number;
  readonly connectionMs: number;
}

export interface DiallerDeps {
  readonly network: Network;
  readonly book: AddressBook;
  readonly sessions: SessionRegistry;
  readonly penalties: Penalties;
  readonly isMember: (owner: Uint8Array) => boolean;
  readonly membership: Pick<OwnMembership, 'refusedAt'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Who is at an address that was never dialled may be a miner. */
const hasRoom = (room: Room, { configured, miner }: Place): boolean =>
  room.forAnybody ||
  (configured && room.forConfigured) ||
  (miner === undefined ? room.forMiners.size > 0 : room.forMiners.has(latin1(miner)));

/** The most dials at a time. */
const DIALS_MAX = 8;

export class Dialler {
  private readonly options: DiallerOptions;
  private readonly deps: DiallerDeps;
  private readonly dialling = new Set<string>();
  /** Addresses of open sessions that this node has dialled, by owner. */
  private readonly places = new Map<string, PeerAddress>();
  private stopped = false;
  private cancel: (() => void) | undefined;

  constructor(options: DiallerOptions, deps: DiallerDeps) {
    this.options = options;
    this.deps = deps;
  }

  start(): void {
    if (this.stopped) return;
    this.deps.sessions.onClose(({ owner }) => this.suspendPlaceOf(owner));
    while (this.next());
    this.cancel = every(this.deps.clock, this.options.dialDelayMs, () => this.tick());
  }

  stop(): void {
    this.stopped = true;
    this.cancel?.();
  }

  private isWorth({ text, owner }: Place): boolean {
    const { penalties, isMember, sessions } = this.deps;
    if (this.dialling.has(text) || penalties.isSuspended(text)) return false;
    return owner === undefined || (isMember(owner) && sessions.of(owner) === undefined);
  }

  private next(): boolean {
    const { sessions, book } = this.deps;
    if (this.stopped || this.dialling.size >= DIALS_MAX) return false;
    const room = sessions.room();
    if (!room.forAnybody && !room.forConfigured && room.forMiners.size === 0) return false;
    const address = book.pick((place) => this.isWorth(place) && hasRoom(room, place));
    if (address === undefined) return false;
    void this.attempt(address);
    return true;
  }

  private tick(): void {
    const { sessions, book } = this.deps;
    for (const { owner } of sessions.all()) book.touch(owner);
    this.next();
  }

  /** Anybody may announce the address of a node that lies. */
  private isKnown(text: string): boolean {
    return this.deps.book.known().some(({ address }) => addressText(address) === text);
  }

  private suspendPlaceOf(owner: Uint8Array): void {
    const { penalties, book } = this.deps;
    const place = this.places.get(latin1(owner));
    if (place === undefined) return;
    this.places.delete(latin1(owner));
    penalties.suspend(addressText(place), book.isConfigured(undefined, place.host));
  }

  /** Dials at once, whatever is known about the address. Never rejects. */
  async attempt(address: PeerAddress): Promise<void> {
    const { clock, network, sessions, book, log, membership, penalties, isMember } = this.deps;
    const text = addressText(address);
    if (this.stopped || this.dialling.has(text)) return;
    this.dialling.add(text);
    try {
      const { host, port } = address;
      const { connectionMs } = this.options;
      const connection = await within(clock, connectionMs, 'no connection in time', (signal) =>
        network.dial(host, port, signal),
      );
      const session = await sessions.establish(connection);
      this.places.set(latin1(session.owner), address);
      book.confirm(address, session);
    } catch (cause) {
      log.info('peer.unreachable', { place: text, why: (cause as Error).message });
      const isStranger = cause instanceof HandshakeRefused && cause.isStranger;
      if (isStranger && this.isKnown(text)) membership.refusedAt(text);
      book.fail(address);
      if (cause instanceof HandshakeRefused && cause.isSameOwner) book.exclude(address);
      else penalties.suspend(text, book.isConfigured(undefined, address.host));
      const claimed = cause instanceof HandshakeRefused ? cause.owner : undefined;
      if (claimed !== undefined) {
        book.suspect(address, claimed);
        book.review(isMember);
      }
    } finally {
      this.dialling.delete(text);
    }
  }
}
