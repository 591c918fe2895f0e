/**
 * Keeps the heads that peers announce, and announces our own
 * (network.md#messages, network.md#penalties).
 *
 * Invariants: an announced score expires, and does not count from a peer that announced a false one;
 * our head is announced at most once a second, or at once after a rollback, and at least often
 * enough to keep the session alive.
 */
import { limitsOf } from '../../base/budget.ts';
import { compare, equal, latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports.ts';
import { createRecentSet } from '../../base/recent-set.ts';
import type { Blockchain, Tip } from '../../chain/blockchain.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { blockProtocols, decodeHead, encodeHead, type Head } from '../messages/block-messages.ts';
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
  /** All peers whose score is at least this, but for the ignored, the deferred and the slow. */
  holders(score: bigint): readonly Session[];
  /** The peer has announced a lower score since. */
  hasRolledBack(head: PeerHead): boolean;
  /** The peer's scores do not count for five minutes. */
  ignore(session: Session): void;
  /** For five minutes the peer is followed only if no other peer is ahead of us. */
  defer(session: Session): void;
  /** A peer with a slow answer does not count until the answer is there. */
  markSlow(session: Session, isSlow: boolean): void;
  /** This head has the score of ours and lost the comparison: it is not followed again. */
  markLostTie(head: Head): void;
  onHead(action: (head: PeerHead) => void): void;
  stop(): void;
}

const ANNOUNCE_EVERY_MS = 1_000;
const HEARTBEAT_MS = 20_000;
const DISTRUST_MS = 5 * 60_000;
const DISTRUSTED_MAX = 1_000;
const LOST_TIES_MAX = 100;
const NO_SESSIONS: ReadonlySet<Session> = new Set();

interface Peer {
  head: PeerHead | undefined;
  receivedAt: number;
  announcedAt: number;
  cancel: (() => void) | undefined;
}

export function createPeerHeads(options: PeerHeadsOptions, ports: PeerHeadsPorts): PeerHeads {
  const { scheme, blockchain, sessions, clock } = ports;
  const peers = new Map<Session, Peer>();
  /** By owner, so that a new session does not clear the mark. */
  const ignored = createRecentSet(DISTRUSTED_MAX, DISTRUST_MS, clock);
  /**
   * Peers that did not answer. They are not ignored: a partition may have lost the answers, and the
   * peer may be the only one ahead.
   */
  const deferred = createRecentSet(DISTRUSTED_MAX, DISTRUST_MS, clock);
  const lostTies = new Set<string>();
  /** Peers that take long to answer. */
  const slow = new Set<Session>();
  const listeners: ((head: PeerHead) => void)[] = [];
  let stopped = false;

  sessions.handleNotices(blockProtocols.head, {
    ...limitsOf(budgets.head),
    take: onHead,
  });
  sessions.onOpen((session) => {
    const peer = { head: undefined, receivedAt: 0, announcedAt: 0, cancel: undefined };
    peers.set(session, peer);
    announceTo(session, peer);
  });
  sessions.onClose((session) => {
    peers.get(session)?.cancel?.();
    peers.delete(session);
    slow.delete(session);
  });
  const stopListening = blockchain.listen({ block: announce, rolledBack: announceRollback });

  /** At once: a peer that asks for blocks of the old head would treat it as false. */
  function announceRollback(): void {
    for (const [session, peer] of peers) announceTo(session, peer);
  }

  function announce(): void {
    for (const [session, peer] of peers) {
      const wait = peer.announcedAt + ANNOUNCE_EVERY_MS - clock.monotonic();
      if (wait <= 0) announceTo(session, peer);
      else schedule(session, peer, wait);
    }
  }

  function schedule(session: Session, peer: Peer, ms: number): void {
    peer.cancel?.();
    peer.cancel = clock.after(ms, () => announceTo(session, peer));
  }

  function announceTo(session: Session, peer: Peer): void {
    if (stopped || peers.get(session) !== peer) return;
    peer.announcedAt = clock.monotonic();
    session.notify(blockProtocols.head, encodeHead(blockchain.tip(), scheme));
    schedule(session, peer, HEARTBEAT_MS);
  }

  function onHead(session: Session, message: Uint8Array): void {
    const peer = peers.get(session);
    if (peer === undefined || stopped) return;
    const { height, id, score } = decodeHead(message, scheme);
    peer.head = { session, height, id: id.slice(), score };
    peer.receivedAt = clock.monotonic();
    if (!isIgnored(session)) for (const listener of listeners) listener(peer.head);
  }

  const isIgnored = ({ owner }: Session): boolean => ignored.has(latin1(owner));
  const isDeferred = ({ owner }: Session): boolean => deferred.has(latin1(owner));

  function* fresh(): Generator<PeerHead> {
    for (const { head, receivedAt } of peers.values()) {
      if (head === undefined || clock.monotonic() - receivedAt > options.scoreTtlMs) continue;
      if (!slow.has(head.session) && !isIgnored(head.session)) yield head;
    }
  }

  const isLostTie = (head: Head): boolean => lostTies.has(latin1(head.id));

  function looksBetter(head: Head, tip: Tip): boolean {
    if (head.score !== tip.score) return head.score > tip.score;
    // Perhaps a sibling of our tip with a lower id (H-9).
    return head.height === tip.height && compare(head.id, tip.id) < 0 && !isLostTie(head);
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
    hasRolledBack: ({ session, score }) => (peers.get(session)?.head?.score ?? score) < score,
    ignore: ({ owner }) => ignored.add(latin1(owner)),
    defer: ({ owner }) => deferred.add(latin1(owner)),
    markSlow(session, isSlow) {
      if (isSlow && peers.has(session)) slow.add(session);
      else slow.delete(session);
    },
    markLostTie(head) {
      if (lostTies.size >= LOST_TIES_MAX) lostTies.delete(lostTies.keys().next().value ?? '');
      lostTies.add(latin1(head.id));
    },
    onHead: (action) => void listeners.push(action),
    stop() {
      stopped = true;
      stopListening();
      for (const peer of peers.values()) peer.cancel?.();
    },
  };
}

/** The first of those with the highest score. */
const highest = (heads: readonly PeerHead[]): PeerHead | undefined =>
  heads.reduce<PeerHead | undefined>(
    (best, head) => (best === undefined || head.score > best.score ? head : best),
    undefined,
  );
