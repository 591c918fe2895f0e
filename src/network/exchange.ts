/**
 * Nodes tell each other of nodes (protocol.md §10.5, §10.7).
 *
 * A node whose declared address is the one it comes from is told to the other sessions at once, and
 * so is known everywhere within seconds; the newcomer gets the whole table when it asks. What is told
 * are candidates, of which few are kept; who tells too often is a flood.
 */
import { latin1 } from '../base/bytes.ts';
import type { Clock } from '../base/ports.ts';
import type { Chain } from '../codec/codec.ts';
import { addressText, type PeerAddress } from './address.ts';
import type { AddressBook } from './address-book.ts';
import { ASK_PEERS, decodePeers, encodeTell, PEERS, PEERS_BYTES_MAX } from './messages-peers.ts';
import type { Session, Sessions } from './session.ts';

export interface ExchangeOptions {
  readonly enabled: boolean;
  readonly intervalMs: number;
}

export interface ExchangePorts {
  readonly sessions: Sessions;
  readonly book: AddressBook;
  readonly resolve: (host: string) => Promise<string>;
  readonly clock: Clock;
  readonly chain: Chain;
}

export interface Exchange {
  stop(): void;
}

/** A message with so few addresses tells of newcomers, who are dialled first. */
const NEWS_MAX = 4;
const TELL_AGAIN_MS = 600_000;
const TOLD_MAX = 1000;
const MINUTE_MS = 60_000;
/** Messages of one peer in a minute. */
const MESSAGES_MAX = 120;

export function createExchange(options: ExchangeOptions, ports: ExchangePorts): Exchange {
  const { sessions, book, clock, chain } = ports;
  /** When a node at its place was told to the others. */
  const told = new Map<string, number>();
  const heard = new WeakMap<Session, { since: number; count: number }>();
  let cancel = options.enabled ? clock.after(options.intervalMs, ask) : () => {};

  sessions.handleNotices(PEERS, {
    messageBytesMax: PEERS_BYTES_MAX,
    take(session, bytes) {
      const message = decodePeers(bytes, chain);
      if (isTooMuch(session)) session.offend('flood', 'messages of peers');
      else if (!options.enabled) return;
      else if (message.kind === 'ask') session.notify(PEERS, encodeTell(table(session), chain));
      else book.offer(message.addresses, message.addresses.length <= NEWS_MAX);
    },
  });

  sessions.onOpen((session) => {
    if (options.enabled) session.notify(PEERS, ASK_PEERS);
    if (session.declaredAddress !== undefined) {
      void learn(session, session.declaredAddress).catch(() => {});
    }
  });

  function isTooMuch(session: Session): boolean {
    const now = clock.now();
    let window = heard.get(session);
    if (window === undefined || now - window.since > MINUTE_MS) {
      window = { since: now, count: 0 };
      heard.set(session, window);
    }
    return ++window.count > MESSAGES_MAX;
  }

  /** Everything but the place of the one who asks. */
  const table = ({ owner }: Session): PeerAddress[] =>
    book
      .known()
      .filter((place) => place.owner !== undefined && latin1(place.owner) !== latin1(owner))
      .map(({ address }) => address);

  async function learn(session: Session, declared: PeerAddress): Promise<void> {
    if ((await ports.resolve(declared.host)) !== session.remoteHost) return;
    if (sessions.of(session.owner) !== session) return;
    book.confirm(declared, session.owner);
    if (options.enabled) push(session, declared);
  }

  function push(from: Session, address: PeerAddress): void {
    const key = `${latin1(from.owner)} ${addressText(address)}`;
    const now = clock.now();
    if (now - (told.get(key) ?? Number.NEGATIVE_INFINITY) < TELL_AGAIN_MS) return;
    told.delete(key);
    told.set(key, now);
    if (told.size > TOLD_MAX) told.delete(told.keys().next().value!);
    const message = encodeTell([address], chain);
    for (const session of sessions.all()) if (session !== from) session.notify(PEERS, message);
  }

  function ask(): void {
    cancel = clock.after(options.intervalMs, ask);
    for (const session of sessions.all()) session.notify(PEERS, ASK_PEERS);
  }

  return { stop: () => cancel() };
}
