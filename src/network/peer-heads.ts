/**
 * What peers say about the ends of their chains, and what they are told about ours (protocol.md
 * §10.5, §10.7).
 *
 * Invariants: a told score counts for its time only, and not at all from a peer that was found to
 * lie; a peer hears of our head at most once a second, unless blocks were taken back, and at least
 * often enough to keep the session alive.
 */
import { compare, equal, latin1 } from '../base/bytes.ts';
import type { Clock } from '../base/ports.ts';
import { createRecentSet } from '../base/recent-set.ts';
import type { Blockchain, Tip } from '../chain/blockchain.ts';
import type { Chain } from '../codec/codec.ts';
import {
  blockLimits,
  blockProtocols,
  decodeHead,
  encodeHead,
  type Head,
} from './messages-blocks.ts';
import type { Session, Sessions } from './session.ts';

export interface PeerHeadsOptions {
  /** How long a score counts. */
  readonly scoreTtlMs: number;
}

export interface PeerHeadsPorts {
  readonly chain: Chain;
  readonly blockchain: Blockchain;
  readonly sessions: Sessions;
  readonly clock: Clock;
}

export interface PeerHead extends Head {
  readonly session: Session;
}

export interface PeerHeads {
  /** The peer to follow, if one has a better chain than ours. */
  best(): PeerHead | undefined;
  /** All peers whose score is at least this, but for the ignored, the deferred and the slow. */
  holders(score: bigint): readonly Session[];
  /** The peer has told of a lower score since. */
  isTakenBack(head: PeerHead): boolean;
  /** The peer's scores do not count for five minutes. */
  ignore(session: Session): void;
  /** For five minutes the peer is followed only where nobody else is ahead of us. */
  defer(session: Session): void;
  /** The peer lets somebody wait, and does not count until that is over. */
  lag(session: Session, isLagging: boolean): void;
  /** A head that need not be looked at again, although it looks as good as ours. */
  dismiss(head: Head): void;
  onHead(action: (head: PeerHead) => void): void;
  stop(): void;
}

const ANNOUNCE_EVERY_MS = 1_000;
const HEARTBEAT_MS = 20_000;
const DISTRUST_MS = 5 * 60_000;
const DISTRUSTED_MAX = 1_000;
const DISMISSED_MAX = 100;

interface Peer {
  head: PeerHead | undefined;
  heardAt: number;
  toldAt: number;
  cancel: (() => void) | undefined;
}

export function createPeerHeads(options: PeerHeadsOptions, ports: PeerHeadsPorts): PeerHeads {
  const { chain, blockchain, sessions, clock } = ports;
  const peers = new Map<Session, Peer>();
  /** By owner, since a new session does not make an old liar honest. */
  const ignored = createRecentSet(DISTRUSTED_MAX, DISTRUST_MS, clock);
  /** A black hole is like a node whose answers a partition swallows, which may be the only one ahead. */
  const deferred = createRecentSet(DISTRUSTED_MAX, DISTRUST_MS, clock);
  const dismissed = new Set<string>();
  /** Peers that take long to answer. */
  const lagging = new Set<Session>();
  const listeners: ((head: PeerHead) => void)[] = [];
  let stopped = false;

  sessions.handleNotices(blockProtocols.head, {
    messageBytesMax: blockLimits.headBytesMax,
    take: onHead,
  });
  sessions.onOpen((session) => {
    const peer = { head: undefined, heardAt: 0, toldAt: 0, cancel: undefined };
    peers.set(session, peer);
    tell(session, peer);
  });
  sessions.onClose((session) => {
    peers.get(session)?.cancel?.();
    peers.delete(session);
    lagging.delete(session);
  });
  const forget = blockchain.listen({ block: announce, rolledBack: takeBack });

  /** At once: whoever asks for blocks that are gone would take the old head for a lie. */
  function takeBack(): void {
    for (const [session, peer] of peers) tell(session, peer);
  }

  function announce(): void {
    for (const [session, peer] of peers) {
      const wait = peer.toldAt + ANNOUNCE_EVERY_MS - clock.now();
      if (wait <= 0) tell(session, peer);
      else schedule(session, peer, wait);
    }
  }

  function schedule(session: Session, peer: Peer, ms: number): void {
    peer.cancel?.();
    peer.cancel = clock.after(ms, () => tell(session, peer));
  }

  function tell(session: Session, peer: Peer): void {
    if (stopped || peers.get(session) !== peer) return;
    peer.toldAt = clock.now();
    session.notify(blockProtocols.head, encodeHead(blockchain.tip(), chain));
    schedule(session, peer, HEARTBEAT_MS);
  }

  function onHead(session: Session, message: Uint8Array): void {
    const peer = peers.get(session);
    if (peer === undefined || stopped) return;
    const { height, id, score } = decodeHead(message, chain);
    peer.head = { session, height, id: id.slice(), score };
    peer.heardAt = clock.now();
    if (!isIgnored(session)) for (const listener of listeners) listener(peer.head);
  }

  const isIgnored = ({ owner }: Session): boolean => ignored.has(latin1(owner));
  const isDeferred = ({ owner }: Session): boolean => deferred.has(latin1(owner));

  function* fresh(): Generator<PeerHead> {
    for (const { head, heardAt } of peers.values()) {
      if (head === undefined || clock.now() - heardAt > options.scoreTtlMs) continue;
      if (!lagging.has(head.session) && !isIgnored(head.session)) yield head;
    }
  }

  const isDismissed = (head: Head): boolean => dismissed.has(latin1(head.id));

  function looksBetter(head: Head, tip: Tip): boolean {
    if (head.score !== tip.score) return head.score > tip.score;
    // Perhaps a sibling of our tip with a lower id (H-9).
    return head.height === tip.height && compare(head.id, tip.id) < 0 && !isDismissed(head);
  }

  return {
    best() {
      const tip = blockchain.tip();
      const ahead = [...fresh()].filter(
        (head) => !equal(head.id, tip.id) && looksBetter(head, tip),
      );
      const trusted = ahead.filter(({ session }) => !isDeferred(session));
      return highest(trusted.length > 0 ? trusted : ahead);
    },
    holders: (score) =>
      Array.from(fresh())
        .filter((head) => head.score >= score && !isDeferred(head.session))
        .map(({ session }) => session),
    isTakenBack: ({ session, score }) => (peers.get(session)?.head?.score ?? score) < score,
    ignore: ({ owner }) => ignored.add(latin1(owner)),
    defer: ({ owner }) => deferred.add(latin1(owner)),
    lag(session, isLagging) {
      if (isLagging && peers.has(session)) lagging.add(session);
      else lagging.delete(session);
    },
    dismiss(head) {
      if (dismissed.size >= DISMISSED_MAX) dismissed.delete(dismissed.keys().next().value ?? '');
      dismissed.add(latin1(head.id));
    },
    onHead: (action) => void listeners.push(action),
    stop() {
      stopped = true;
      forget();
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
