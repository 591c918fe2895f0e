/**
 * Exchanges addresses of nodes with peers (network.md#messages, network.md#addresses-of-nodes).
 *
 * A node that connects from its declared address is announced to the other sessions at once, so the
 * network knows it within seconds. A new node gets the whole table on request. Announced addresses
 * are candidates, of which few are kept. A peer that announces too often is penalised for flooding.
 */
import { unlessOurs } from '../../base/assert.ts';
import { latin1 } from '../../base/bytes.ts';
import { misconduct } from '../../base/faults/misconduct.ts';
import { limitsOf } from '../../base/limits/budget.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { BoundedCache, ExpiringSet } from '../../concurrency/bounded-cache.ts';
import { every } from '../../concurrency/interval.ts';
import { TokenBucket } from '../../concurrency/token-bucket.ts';
import { budgets } from '../messages/message-budgets.ts';
import { addressText, type PeerAddress } from '../messages/peer-address.ts';
import { ASK_PEERS, decodePeers, encodePeers, PEERS } from '../messages/peer-messages.ts';
import type { Session, Sessions } from '../sessions/session.ts';
import type { AddressBook } from './address-book.ts';
import { LEARNED_OF_OWNER_MAX } from './known-places.ts';

export interface ExchangeOptions {
  readonly exchange: boolean;
  readonly exchangeMs: number;
}

export interface ExchangeDeps {
  readonly sessions: Sessions;
  readonly book: AddressBook;
  readonly resolve: (host: string) => Promise<string>;
  readonly clock: Clock;
  readonly scheme: ChainScheme;
}

/** A message with at most this many addresses announces new nodes, which are dialled first. */
const NEWS_MAX = 4;
const ANNOUNCE_AGAIN_MS = 600_000;
const ANNOUNCED_MAX = 1000;
/** Owners whose announcements and messages are counted, at least; the others begin again. */
const OWNERS_MAX = 1000;
const MINUTE_MS = 60_000;
/** Messages of one owner in a minute. */
const MESSAGES_MAX = 120;

export class Exchange {
  private readonly options: ExchangeOptions;
  private readonly deps: ExchangeDeps;
  /** Owners with their addresses that the other sessions know of. */
  private readonly announced: ExpiringSet;
  /** By owner, since a new session costs a peer nothing. */
  private readonly received = new BoundedCache<string, { since: number; count: number }>(
    OWNERS_MAX,
  );
  private readonly moves = new BoundedCache<string, TokenBucket>(OWNERS_MAX);
  private cancel: (() => void) | undefined;

  constructor(options: ExchangeOptions, deps: ExchangeDeps) {
    this.options = options;
    this.deps = deps;
    this.announced = new ExpiringSet(ANNOUNCED_MAX, ANNOUNCE_AGAIN_MS, deps.clock);
  }

  /** Call before the network starts. */
  start(): void {
    const { sessions } = this.deps;
    const { exchange, exchangeMs } = this.options;
    if (exchange) this.cancel = every(this.deps.clock, exchangeMs, () => this.ask());
    sessions.handleNotices(PEERS, {
      ...limitsOf(budgets.peers),
      take: (session, bytes) => this.take(session, bytes),
    });
    sessions.onOpen((session) => {
      if (exchange) session.notify(PEERS, ASK_PEERS);
      if (session.declaredAddress !== undefined) {
        void this.confirmDeclared(session, session.declaredAddress).catch(unlessOurs(() => {}));
      }
    });
  }

  stop(): void {
    this.cancel?.();
  }

  private take(session: Session, bytes: Uint8Array): void {
    const { book, scheme } = this.deps;
    const message = decodePeers(bytes, scheme);
    if (this.isTooMuch(session)) session.offend('flood', misconduct('messages of peers'));
    else if (!this.options.exchange) return;
    else if (message.kind === 'ask') {
      session.notify(PEERS, encodePeers(this.table(session), scheme));
    } else book.offer(message.addresses, message.addresses.length <= NEWS_MAX);
  }

  private isTooMuch({ owner }: Session): boolean {
    const now = this.deps.clock.monotonic();
    const key = latin1(owner);
    let window = this.received.get(key);
    if (window === undefined || now - window.since > MINUTE_MS) {
      window = { since: now, count: 0 };
      this.received.set(key, window);
    }
    return ++window.count > MESSAGES_MAX;
  }

  /** All known addresses except that of the asking peer. */
  private table({ owner }: Session): PeerAddress[] {
    return this.deps.book
      .known()
      .filter((place) => place.owner !== undefined && latin1(place.owner) !== latin1(owner))
      .map(({ address }) => address);
  }

  private async confirmDeclared(session: Session, declared: PeerAddress): Promise<void> {
    const { sessions, book, resolve } = this.deps;
    if ((await resolve(declared.host)) !== session.remoteHost) return;
    if (sessions.of(session.owner) !== session) return;
    book.confirm(declared, session);
    if (this.options.exchange) this.announce(session, declared);
  }

  private announce(from: Session, address: PeerAddress): void {
    const { announced } = this;
    const { sessions, scheme } = this.deps;
    const key = `${latin1(from.owner)} ${addressText(address)}`;
    if (announced.has(key) || !this.mayMove(from.owner)) return;
    announced.add(key);
    const message = encodePeers([address], scheme);
    for (const session of sessions.all()) if (session !== from) session.notify(PEERS, message);
  }

  /** Each announcement makes every node dial, so an owner has few of them. */
  private mayMove(owner: Uint8Array): boolean {
    const key = latin1(owner);
    let moves = this.moves.get(key);
    if (moves === undefined) {
      const perSecond = (LEARNED_OF_OWNER_MAX * 1000) / ANNOUNCE_AGAIN_MS;
      moves = new TokenBucket(LEARNED_OF_OWNER_MAX, perSecond, this.deps.clock);
      this.moves.set(key, moves);
    }
    return moves.tryTake();
  }

  private ask(): void {
    for (const session of this.deps.sessions.all()) session.notify(PEERS, ASK_PEERS);
  }
}
