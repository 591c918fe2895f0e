/**
 * Exchanges addresses of nodes with peers (network.md#messages, network.md#addresses-of-nodes).
 *
 * A node that connects from its declared address is announced to the other sessions at once, so the
 * network knows it within seconds. A new node gets the whole table on request. Announced addresses
 * are candidates, of which few are kept. A peer that announces too often is penalised for flooding.
 */
import { unlessOurs } from '../../base/assert.ts';
import { limitsOf } from '../../base/budget.ts';
import { latin1 } from '../../base/bytes.ts';
import { misconduct } from '../../base/misconduct.ts';
import type { Clock } from '../../base/ports.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { ExpiringSet } from '../../concurrency/bounded-cache.ts';
import { budgets } from '../messages/message-budgets.ts';
import { addressText, type PeerAddress } from '../messages/peer-address.ts';
import { ASK_PEERS, decodePeers, encodePeers, PEERS } from '../messages/peer-messages.ts';
import type { Session, Sessions } from '../sessions/session.ts';
import type { AddressBook } from './address-book.ts';

export interface ExchangeOptions {
  readonly enabled: boolean;
  readonly intervalMs: number;
}

export interface ExchangePorts {
  readonly sessions: Sessions;
  readonly book: AddressBook;
  readonly resolve: (host: string) => Promise<string>;
  readonly clock: Clock;
  readonly scheme: ChainScheme;
}

export interface Exchange {
  stop(): void;
}

/** A message with at most this many addresses announces new nodes, which are dialled first. */
const NEWS_MAX = 4;
const ANNOUNCE_AGAIN_MS = 600_000;
const ANNOUNCED_MAX = 1000;
const MINUTE_MS = 60_000;
/** Messages of one peer in a minute. */
const MESSAGES_MAX = 120;

export function createExchange(options: ExchangeOptions, ports: ExchangePorts): Exchange {
  const { sessions, book, clock, scheme } = ports;
  /** Owners with their addresses that the other sessions know of. */
  const announced = new ExpiringSet(ANNOUNCED_MAX, ANNOUNCE_AGAIN_MS, clock);
  const received = new WeakMap<Session, { since: number; count: number }>();
  let cancel = options.enabled ? clock.after(options.intervalMs, ask) : () => {};

  sessions.handleNotices(PEERS, {
    ...limitsOf(budgets.peers),
    take(session, bytes) {
      const message = decodePeers(bytes, scheme);
      if (isTooMuch(session)) session.offend('flood', misconduct('messages of peers'));
      else if (!options.enabled) return;
      else if (message.kind === 'ask') session.notify(PEERS, encodePeers(table(session), scheme));
      else book.offer(message.addresses, message.addresses.length <= NEWS_MAX);
    },
  });

  sessions.onOpen((session) => {
    if (options.enabled) session.notify(PEERS, ASK_PEERS);
    if (session.declaredAddress !== undefined) {
      void confirmDeclared(session, session.declaredAddress).catch(unlessOurs(() => {}));
    }
  });

  function isTooMuch(session: Session): boolean {
    const now = clock.monotonic();
    let window = received.get(session);
    if (window === undefined || now - window.since > MINUTE_MS) {
      window = { since: now, count: 0 };
      received.set(session, window);
    }
    return ++window.count > MESSAGES_MAX;
  }

  /** All known addresses except that of the asking peer. */
  const table = ({ owner }: Session): PeerAddress[] =>
    book
      .known()
      .filter((place) => place.owner !== undefined && latin1(place.owner) !== latin1(owner))
      .map(({ address }) => address);

  async function confirmDeclared(session: Session, declared: PeerAddress): Promise<void> {
    if ((await ports.resolve(declared.host)) !== session.remoteHost) return;
    if (sessions.of(session.owner) !== session) return;
    book.confirm(declared, session.owner);
    if (options.enabled) announce(session, declared);
  }

  function announce(from: Session, address: PeerAddress): void {
    const key = `${latin1(from.owner)} ${addressText(address)}`;
    if (announced.has(key)) return;
    announced.add(key);
    const message = encodePeers([address], scheme);
    for (const session of sessions.all()) if (session !== from) session.notify(PEERS, message);
  }

  function ask(): void {
    cancel = clock.after(options.intervalMs, ask);
    for (const session of sessions.all()) session.notify(PEERS, ASK_PEERS);
  }

  return { stop: () => cancel() };
}
