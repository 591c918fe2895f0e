/**
 * Opens connections (network.md#addresses-of-nodes): all configured nodes at the start, then one
 * random address every `attempt-connection-delay`. An address that failed is not dialled for a
 * while.
 */
import { latin1 } from '../../base/bytes.ts';
import { within } from '../../base/deadline.ts';
import type { Network } from '../../base/network.ts';
import type { Clock, Log } from '../../base/ports.ts';
import { addressText, type PeerAddress } from '../messages/peer-address.ts';
import { HandshakeRefused } from '../sessions/handshake-refused.ts';
import type { Penalties } from '../sessions/penalties.ts';
import type { SessionRegistry } from '../sessions/session-registry.ts';
import type { AddressBook, Place } from './address-book.ts';
import type { OwnMembership } from './own-membership.ts';

export interface DiallerOptions {
  readonly connectionsMax: number;
  readonly delayMs: number;
  readonly connectionMs: number;
}

export interface DiallerPorts {
  readonly network: Network;
  readonly book: AddressBook;
  readonly sessions: SessionRegistry;
  readonly penalties: Penalties;
  readonly isMember: (owner: Uint8Array) => boolean;
  readonly membership: Pick<OwnMembership, 'refusedAt'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Dialler {
  start(): void;
  /** Dials at once, whatever is known about the address. Never rejects. */
  attempt(address: PeerAddress): Promise<void>;
  stop(): void;
}

/** The most dials at a time. */
const DIALS_MAX = 8;

export function createDialler(options: DiallerOptions, ports: DiallerPorts): Dialler {
  const { network, book, sessions, penalties, isMember, membership, clock, log } = ports;
  const dialling = new Set<string>();
  /** Addresses of open sessions that this node has dialled, by owner. */
  const places = new Map<string, PeerAddress>();
  let stopped = false;
  let cancel = (): void => {};

  sessions.onClose(({ owner }) => {
    const key = latin1(owner);
    const place = places.get(key);
    if (place === undefined) return;
    places.delete(key);
    penalties.suspend(addressText(place), book.isConfigured(undefined, place.host));
  });

  const isWorth = ({ text, owner }: Place): boolean =>
    !dialling.has(text) &&
    !penalties.isSuspended(text) &&
    (owner === undefined || (isMember(owner) && sessions.of(owner) === undefined));

  function next(): boolean {
    if (stopped || dialling.size >= DIALS_MAX) return false;
    const all = sessions.all();
    const isFull = all.length >= options.connectionsMax;
    // A session with a node outside the configuration makes room for a configured node.
    if (isFull && all.every((one) => book.isConfigured(one.owner, one.remoteHost))) return false;
    const address = book.pick((place) => isWorth(place) && (!isFull || place.configured));
    if (address === undefined) return false;
    void attempt(address);
    return true;
  }

  function tick(): void {
    cancel = clock.after(options.delayMs, tick);
    for (const { owner } of sessions.all()) book.touch(owner);
    next();
  }

  /** Anybody may announce the address of a node that lies. */
  const isKnown = (text: string): boolean =>
    book.known().some(({ address }) => addressText(address) === text);

  async function attempt(address: PeerAddress): Promise<void> {
    const text = addressText(address);
    if (stopped || dialling.has(text)) return;
    dialling.add(text);
    try {
      const { host, port } = address;
      const connection = await within(
        clock,
        options.connectionMs,
        'no connection in time',
        (signal) => network.dial(host, port, signal),
      );
      const { owner } = await sessions.establish(connection);
      places.set(latin1(owner), address);
      book.confirm(address, owner);
    } catch (cause) {
      log.info('peer.unreachable', { place: text, why: (cause as Error).message });
      const isStranger = cause instanceof HandshakeRefused && cause.isStranger;
      if (isStranger && isKnown(text)) membership.refusedAt(text);
      book.fail(address);
      if (cause instanceof HandshakeRefused && cause.isSameOwner) book.exclude(address);
      else penalties.suspend(text, book.isConfigured(undefined, address.host));
      const claimed = cause instanceof HandshakeRefused ? cause.owner : undefined;
      if (claimed !== undefined) {
        book.suspect(address, claimed);
        book.review(isMember);
      }
    } finally {
      dialling.delete(text);
    }
  }

  return {
    start() {
      while (next());
      cancel = clock.after(options.delayMs, tick);
    },
    attempt,
    stop() {
      stopped = true;
      cancel();
    },
  };
}
