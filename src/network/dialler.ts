/**
 * Opens connections (protocol.md §10.7): all configured nodes at the start, then one place, chosen
 * by chance, every `attempt-connection-delay`. A place that failed is left alone for a while.
 */
import { latin1 } from '../base/bytes.ts';
import { within } from '../base/deadline.ts';
import type { Network } from '../base/network.ts';
import type { Clock, Log } from '../base/ports.ts';
import { addressText, type PeerAddress } from './address.ts';
import type { AddressBook } from './address-book.ts';
import { HandshakeRefused, sameOwner } from './handshake.ts';
import type { Penalties } from './penalties.ts';
import type { SessionRegistry } from './sessions.ts';

export interface DiallerOptions {
  readonly connectionsMax: number;
  readonly delayMs: number;
  readonly connectionMs: number;
  /** Address of the owner of this node, as text. */
  readonly ownAddress: string;
}

export interface DiallerPorts {
  readonly network: Network;
  readonly book: AddressBook;
  readonly sessions: SessionRegistry;
  readonly penalties: Penalties;
  readonly isMember: (owner: Uint8Array) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Dialler {
  start(): void;
  /** Dials at once, whatever is known of the place. Never rejects. */
  attempt(address: PeerAddress): Promise<void>;
  stop(): void;
}

/** Dials at the same time. */
const DIALS_MAX = 8;

export function createDialler(options: DiallerOptions, ports: DiallerPorts): Dialler {
  const { network, book, sessions, penalties, isMember, clock, log } = ports;
  const dialling = new Set<string>();
  /** Places of open sessions that this node has dialled, by owner. */
  const places = new Map<string, PeerAddress>();
  let stopped = false;
  let cancel = (): void => {};

  sessions.onClose(({ owner }) => {
    const key = latin1(owner);
    const place = places.get(key);
    if (place === undefined) return;
    places.delete(key);
    penalties.suspend(addressText(place));
  });

  const isWorth = (text: string, owner: Uint8Array | undefined): boolean =>
    !dialling.has(text) &&
    !penalties.isSuspended(text) &&
    (owner === undefined || (isMember(owner) && sessions.of(owner) === undefined));

  function next(): boolean {
    if (sessions.all().length >= options.connectionsMax || dialling.size >= DIALS_MAX) return false;
    const address = book.pick(isWorth);
    if (address === undefined) return false;
    void attempt(address);
    return true;
  }

  function tick(): void {
    cancel = clock.after(options.delayMs, tick);
    for (const { owner } of sessions.all()) book.touch(owner);
    next();
  }

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
      const { owner } = await sessions.greet(connection);
      places.set(latin1(owner), address);
      book.confirm(address, owner);
    } catch (cause) {
      const { message } = cause as Error;
      log.info('peer.unreachable', { place: text, why: message });
      book.fail(address);
      if (message === sameOwner(options.ownAddress)) book.exclude(address);
      else penalties.suspend(text);
      if (cause instanceof HandshakeRefused && cause.owner !== undefined) {
        book.suspect(address, cause.owner);
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
