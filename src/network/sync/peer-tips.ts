/**
 * The tips that peers announce, and which of them count (network.md#messages,
 * network.md#penalties).
 *
 * Invariant: an announced score expires, and does not count from a peer that announced a false one.
 */
import { compare, equal, latin1 } from '../../base/bytes.ts';
import { pause } from '../../base/deadline.ts';
import { limitsOf } from '../../base/limits/budget.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { Tip } from '../../chain/tip.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { ExpiringSet } from '../../concurrency/bounded-cache.ts';
import { blockProtocols, decodeTip, type TipMessage } from '../messages/block-messages.ts';
import { budgets } from '../messages/message-budgets.ts';
import type { Session, Sessions } from '../sessions/session.ts';
import type { Seeking } from './seeking.ts';

export interface PeerTipsOptions {
  /** How long a score counts. */
  readonly scoreTtlMs: number;
}

export interface PeerTipsDeps {
  readonly scheme: ChainScheme;
  readonly blockchain: Blockchain;
  readonly sessions: Sessions;
  readonly clock: Clock;
  /** Votes say that the chain of a peer may be the better one with a lower score too. Absent: never. */
  readonly seeking?: Pick<Seeking, 'asks' | 'asked'> | undefined;
}

export interface PeerTip extends TipMessage {
  readonly session: Session;
}

const DISTRUST_MS = 5 * 60_000;
const DISTRUSTED_MAX = 1_000;
const LOST_MAX = 100;
/** A late branch may replace our chain when that stands still. */
const LOST_MS = 60_000;
/** By so much an answer may overtake the notice of a rollback. */
const OVERTAKEN_MS = 5_000;
const LOOK_EVERY_MS = 100;
const NO_SESSIONS: ReadonlySet<Session> = new Set();

interface Announced {
  readonly peerTip: PeerTip;
  readonly receivedAt: number;
}

export class PeerTips {
  private readonly options: PeerTipsOptions;
  private readonly deps: PeerTipsDeps;
  /** By session; undefined until it has announced one. */
  private readonly peers = new Map<Session, Announced | undefined>();
  /** By owner, so that a new session does not clear the mark. */
  private readonly ignored: ExpiringSet;
  /**
   * Peers that did not answer. They are not ignored: a partition may have lost the answers, and the
   * peer may be the only one ahead.
   */
  private readonly deferred: ExpiringSet;
  /** Peers whose ids came later than those of another. */
  private readonly outrun: ExpiringSet;
  /** Ids of our tip and of heads that lost to it. */
  private readonly lost: ExpiringSet;
  /** Peers that take long to answer. */
  private readonly slow = new Set<Session>();
  private readonly listeners: ((peerTip: PeerTip) => void)[] = [];
  private stopped = false;

  constructor(options: PeerTipsOptions, deps: PeerTipsDeps) {
    this.options = options;
    this.deps = deps;
    this.ignored = new ExpiringSet(DISTRUSTED_MAX, DISTRUST_MS, deps.clock);
    this.deferred = new ExpiringSet(DISTRUSTED_MAX, DISTRUST_MS, deps.clock);
    this.outrun = new ExpiringSet(DISTRUSTED_MAX, DISTRUST_MS, deps.clock);
    this.lost = new ExpiringSet(LOST_MAX, LOST_MS, deps.clock);
  }

  /** Call before the network starts. */
  start(): void {
    const { sessions } = this.deps;
    sessions.handleNotices(blockProtocols.head, {
      ...limitsOf(budgets.head),
      take: (session, message) => this.take(session, message),
    });
    sessions.onOpen((session) => void this.peers.set(session, undefined));
    sessions.onClose((session) => {
      this.peers.delete(session);
      this.slow.delete(session);
    });
  }

  /** The peer to follow, if one beside these has a better chain than ours. */
  best(except = NO_SESSIONS): PeerTip | undefined {
    const tip = this.deps.blockchain.tip();
    const ahead = [...this.fresh()].filter(
      (peerTip) =>
        !except.has(peerTip.session) &&
        !equal(peerTip.id, tip.id) &&
        this.looksBetter(peerTip, tip),
    );
    const trusted = ahead.filter(({ session }) => !this.isDeferred(session));
    const soon = trusted.filter(({ session }) => !this.isOutrun(session));
    return highest([soon, trusted].find(({ length }) => length > 0) ?? ahead);
  }

  /** All peers whose score is at least this, except the ignored, the deferred and the slow. */
  holders(score: bigint): readonly Session[] {
    return this.helpers((peerTip) => peerTip.score >= score);
  }

  /** The same of those that are at least so high, with any score and on any branch. */
  reaching(height: number): readonly Session[] {
    return this.helpers((peerTip) => peerTip.height >= height);
  }

  /** The peer has announced a lower score since. */
  hasRolledBack({ session, score }: PeerTip): boolean {
    return (this.peers.get(session)?.peerTip.score ?? score) < score;
  }

  /**
   * Resolves whether the peer has rolled back, or has gone and cannot say it. It announces a rollback
   * at once, but on a stream of its own: an answer of the shorter chain may overtake the notice.
   */
  async rollsBack(target: PeerTip): Promise<boolean> {
    const { clock } = this.deps;
    const end = clock.monotonic() + OVERTAKEN_MS;
    const isGone = (): boolean => !this.peers.has(target.session);
    while (!this.hasRolledBack(target) && !isGone() && !this.stopped && clock.monotonic() < end) {
      await pause(clock, LOOK_EVERY_MS);
    }
    return this.hasRolledBack(target) || isGone();
  }

  /** The peer's scores do not count for five minutes. */
  ignore({ owner }: Session): void {
    this.ignored.add(latin1(owner));
  }

  /** For five minutes the peer is followed only if no other peer is ahead of us. */
  defer({ owner }: Session): void {
    this.deferred.add(latin1(owner));
  }

  /** For five minutes the peer is followed only if no other peer is ahead of us; it helps all the same. */
  markOutrun({ owner }: Session): void {
    this.outrun.add(latin1(owner));
  }

  isOutrun({ owner }: Session): boolean {
    return this.outrun.has(latin1(owner));
  }

  /** A peer with a slow answer does not count until the answer is there. */
  markSlow(session: Session, isSlow: boolean): void {
    if (isSlow && this.peers.has(session)) this.slow.add(session);
    else this.slow.delete(session);
  }

  /** This head lost the comparison with our tip: it is not followed for a minute while that stays. */
  markLost(peerTip: TipMessage): void {
    this.lost.add(this.pairOf(peerTip, this.deps.blockchain.tip()));
  }

  onTip(action: (peerTip: PeerTip) => void): void {
    this.listeners.push(action);
  }

  stop(): void {
    this.stopped = true;
  }

  private take(session: Session, message: Uint8Array): void {
    if (this.stopped || !this.peers.has(session)) return;
    const { height, id, score } = decodeTip(message, this.deps.scheme);
    const peerTip = { session, height, id: id.slice(), score };
    this.peers.set(session, { peerTip, receivedAt: this.deps.clock.monotonic() });
    if (!this.isIgnored(session)) for (const listener of this.listeners) listener(peerTip);
  }

  private isIgnored({ owner }: Session): boolean {
    return this.ignored.has(latin1(owner));
  }

  private isDeferred({ owner }: Session): boolean {
    return this.deferred.has(latin1(owner));
  }

  private helpers(isOne: (peerTip: PeerTip) => boolean): readonly Session[] {
    return Array.from(this.fresh())
      .filter((peerTip) => isOne(peerTip) && !this.isDeferred(peerTip.session))
      .map(({ session }) => session);
  }

  private *fresh(): Generator<PeerTip> {
    for (const announced of this.peers.values()) {
      if (announced === undefined) continue;
      const { peerTip, receivedAt } = announced;
      if (this.deps.clock.monotonic() - receivedAt > this.options.scoreTtlMs) continue;
      if (!this.slow.has(peerTip.session) && !this.isIgnored(peerTip.session)) yield peerTip;
    }
  }

  private pairOf(peerTip: TipMessage, tip: Tip): string {
    return latin1(tip.id) + latin1(peerTip.id);
  }

  /** Votes speak for a chain that this peer may have, whatever its score. */
  seeksIn(peer: Session): boolean {
    return this.deps.seeking?.asks(peer) === true;
  }

  /** The peer is followed from now on. */
  asked(peer: Session): void {
    this.deps.seeking?.asked(peer);
  }

  private looksBetter(peerTip: PeerTip, tip: Tip): boolean {
    if (this.lost.has(this.pairOf(peerTip, tip))) return false;
    if (peerTip.score > tip.score) return true;
    if (this.seeksIn(peerTip.session)) return true;
    if (peerTip.score < tip.score) return false;
    // Perhaps a sibling of our tip that is earlier, or has a lower id (H-9: ties between siblings).
    if (peerTip.height !== tip.height || equal(peerTip.id, tip.id)) return false;
    return tip.header.consensus.kind === 'pos' || compare(peerTip.id, tip.id) < 0;
  }
}

/** The first of those with the highest score. */
const highest = (peerTips: readonly PeerTip[]): PeerTip | undefined =>
  peerTips.reduce<PeerTip | undefined>(
    (best, peerTip) => (best === undefined || peerTip.score > best.score ? peerTip : best),
    undefined,
  );
