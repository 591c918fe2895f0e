/**
 * The heads that peers announce, and which of them count (network.md#messages,
 * network.md#penalties).
 *
 * Invariant: an announced score expires, and does not count from a peer that announced a false one.
 */
import { limitsOf } from '../../base/budget.ts';
import { compare, equal, latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { Tip } from '../../chain/tip.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { ExpiringSet } from '../../concurrency/bounded-cache.ts';
import { blockProtocols, decodeHead, type Head } from '../messages/block-messages.ts';
import { budgets } from '../messages/message-budgets.ts';
import type { Session, Sessions } from '../sessions/session.ts';

export interface PeerHeadsOptions {
  /** How long a score counts. */
  readonly scoreTtlMs: number;
}

export interface PeerHeadsPorts {
  readonly scheme: ChainScheme;
  readonly blockchain: Blockchain;
  readonly sessions: Sessions;
  readonly clock: Clock;
}

export interface PeerHead extends Head {
  readonly session: Session;
}

export interface PeerHeads {
  /** The peer to follow, if one beside these has a better chain than ours. */
  best(except?: ReadonlySet<Session>): PeerHead | undefined;
  /** All peers whose score is at least this, except the ignored, the deferred and the slow. */
  holders(score: bigint): readonly Session[];
  /** The peer has announced a lower score since. */
  hasRolledBack(head: PeerHead): boolean;
  /** The peer's scores do not count for five minutes. */
  ignore(session: Session): void;
  /** For five minutes the peer is followed only if no other peer is ahead of us. */
  defer(session: Session): void;
  /** A peer with a slow answer does not count until the answer is there. */
  markSlow(session: Session, isSlow: boolean): void;
  /** This head lost the comparison with our tip: it is not followed for a minute while that stays. */
  markLost(head: Head): void;
  onHead(action: (head: PeerHead) => void): void;
  stop(): void;
}

const DISTRUST_MS = 5 * 60_000;
const DISTRUSTED_MAX = 1_000;
const LOST_MAX = 100;
/** A late branch may replace our chain when that stands still. */
const LOST_MS = 60_000;
const NO_SESSIONS: ReadonlySet<Session> = new Set();

interface Announced {
  readonly head: PeerHead;
  readonly receivedAt: number;
}

export function createPeerHeads(options: PeerHeadsOptions, ports: PeerHeadsPorts): PeerHeads {
  const { scheme, blockchain, sessions, clock } = ports;
  /** By session; undefined until it has announced one. */
  const peers = new Map<Session, Announced | undefined>();
  /** By owner, so that a new session does not clear the mark. */
  const ignored = new ExpiringSet(DISTRUSTED_MAX, DISTRUST_MS, clock);
  /**
   * Peers that did not answer. They are not ignored: a partition may have lost the answers, and the
   * peer may be the only one ahead.
   */
  const deferred = new ExpiringSet(DISTRUSTED_MAX, DISTRUST_MS, clock);
  /** Ids of our tip and of heads that lost to it. */
  const lost = new ExpiringSet(LOST_MAX, LOST_MS, clock);
  /** Peers that take long to answer. */
  const slow = new Set<Session>();
  const listeners: ((head: PeerHead) => void)[] = [];
  let stopped = false;

  sessions.handleNotices(blockProtocols.head, {
    ...limitsOf(budgets.head),
    take: onHead,
  });
  sessions.onOpen((session) => void peers.set(session, undefined));
  sessions.onClose((session) => {
    peers.delete(session);
    slow.delete(session);
  });

  function onHead(session: Session, message: Uint8Array): void {
    if (stopped || !peers.has(session)) return;
    const { height, id, score } = decodeHead(message, scheme);
    const head = { session, height, id: id.slice(), score };
    peers.set(session, { head, receivedAt: clock.monotonic() });
    if (!isIgnored(session)) for (const listener of listeners) listener(head);
  }

  const isIgnored = ({ owner }: Session): boolean => ignored.has(latin1(owner));
  const isDeferred = ({ owner }: Session): boolean => deferred.has(latin1(owner));

  function* fresh(): Generator<PeerHead> {
    for (const announced of peers.values()) {
      if (announced === undefined) continue;
      const { head, receivedAt } = announced;
      if (clock.monotonic() - receivedAt > options.scoreTtlMs) continue;
      if (!slow.has(head.session) && !isIgnored(head.session)) yield head;
    }
  }

  const pairOf = (head: Head, tip: Tip): string => latin1(tip.id) + latin1(head.id);

  function looksBetter(head: Head, tip: Tip): boolean {
    if (lost.has(pairOf(head, tip))) return false;
    if (head.score !== tip.score) return head.score > tip.score;
    // Perhaps a sibling of our tip with a lower id (H-9).
    return head.height === tip.height && compare(head.id, tip.id) < 0;
  }

  return {
    best(except = NO_SESSIONS) {
      const tip = blockchain.tip();
      const ahead = [...fresh()].filter(
        (head) => !except.has(head.session) && !equal(head.id, tip.id) && looksBetter(head, tip),
      );
      const trusted = ahead.filter(({ session }) => !isDeferred(session));
      return highest(trusted.length > 0 ? trusted : ahead);
    },
    holders: (score) =>
      Array.from(fresh())
        .filter((head) => head.score >= score && !isDeferred(head.session))
        .map(({ session }) => session),
    hasRolledBack: ({ session, score }) => (peers.get(session)?.head.score ?? score) < score,
    ignore: ({ owner }) => ignored.add(latin1(owner)),
    defer: ({ owner }) => deferred.add(latin1(owner)),
    markSlow(session, isSlow) {
      if (isSlow && peers.has(session)) slow.add(session);
      else slow.delete(session);
    },
    markLost: (head) => lost.add(pairOf(head, blockchain.tip())),
    onHead: (action) => void listeners.push(action),
    stop() {
      stopped = true;
    },
  };
}

/** The first of those with the highest score. */
const highest = (heads: readonly PeerHead[]): PeerHead | undefined =>
  heads.reduce<PeerHead | undefined>(
    (best, head) => (best === undefined || head.score > best.score ? head : best),
    undefined,
  );
