/**
 * The peers to ask for an item (privacy.md#exchange-between-nodes): connected members of its
 * policy, first those that have announced it. Peers that failed recently are left out, and those
 * that were busy come last.
 *
 * Invariant: a peer that has let this node wait, and delivered nothing since, is asked for few items at
 * a time: each request takes a place until its time-out, and items of other peers need places, too.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Random } from '../../base/ports/random.ts';
import { BoundedCache, ExpiringSet } from '../../concurrency/bounded-cache.ts';
import { Counts } from '../../concurrency/counts.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { isMember, RECIPIENT } from '../../ledger/policies.ts';
import { type ItemId, itemKey } from '../protocol/item-id.ts';
import type { Peer, Peers } from '../protocol/peer-ports.ts';
import type { Received } from './receive-item.ts';

export interface SourcesOptions {
  readonly failedMax: number;
  readonly failedMs: number;
}

export interface Sources {
  /** The best source first. */
  of(item: ItemId): readonly Peer[];
  /** True if a peer has announced it. */
  isAnnounced(item: ItemId): boolean;
  announced(item: ItemId, owner: Uint8Array): void;
  /** Call before the peer is asked; call the result with what came. Undefined where it is asked enough. */
  ask(item: ItemId, owner: Uint8Array): ((received: Received) => void) | undefined;
  /** A peer that has reconnected is asked again, unless it was slow. */
  clearFailure(owner: Uint8Array): void;
}

/** Requests to a peer that has let this node wait. */
const HELD_BACK_MAX = 2;
/** A peer with others to answer says much sooner that it has nothing (serve-items.ts). */
const LATE_MS = 30_000;
/** Items whose holders are remembered, at least, and holders of one item. */
const ITEMS_MAX = 5_000;
const HOLDERS_MAX = 16;

export function createSources(
  options: SourcesOptions,
  ports: {
    readonly peers: Pick<Peers, 'all'>;
    readonly view: LedgerView;
    readonly clock: Clock;
    readonly random: Random;
    /** Called when a peer delivers that was held back. */
    readonly onDelivering: (owner: Uint8Array) => void;
  },
): Sources {
  const { peers, view, clock, random, onDelivering } = ports;
  const holders = new BoundedCache<string, Set<string>>(ITEMS_MAX);
  const failures = new ExpiringSet(options.failedMax, options.failedMs, clock);
  const slow = new ExpiringSet(options.failedMax, options.failedMs, clock);
  const busy = new ExpiringSet(options.failedMax, options.failedMs, clock);
  /** Those that have let this node wait, also in sessions before. */
  const heldBack = new ExpiringSet(options.failedMax, options.failedMs, clock);
  /** Requests to each peer. */
  const asked = new Counts<string>();

  function note(item: ItemId, owner: Uint8Array, received: Received, tookMs: number): void {
    const key = latin1(owner);
    if (received === 'nothing') holders.get(itemKey(item))?.delete(key);
    const outcome = received === 'nothing' && tookMs > LATE_MS ? 'busy' : received;
    if (outcome === 'failed') failures.add(key);
    // A new connection does not make it faster.
    if (outcome === 'slow') slow.add(key);
    if (outcome === 'busy') busy.add(key);
    if (outcome === 'failed' || outcome === 'slow' || outcome === 'busy') heldBack.add(key);
    if (received !== 'stored') return;
    busy.delete(key);
    if (!heldBack.has(key)) return;
    heldBack.delete(key);
    onDelivering(owner);
  }

  return {
    of(item) {
      const having = holders.get(itemKey(item));
      const fit = peers
        .all()
        .filter(({ mode }) => mode !== 'watcher')
        .filter(({ owner }) => isMember(view, item.policyId, RECIPIENT, owner))
        .filter(({ owner }) => !failures.has(latin1(owner)) && !slow.has(latin1(owner)));
      const isHolder = ({ owner }: Peer): boolean => having?.has(latin1(owner)) === true;
      const rank = (peer: Peer): number =>
        busy.has(latin1(peer.owner)) ? 2 : Number(!isHolder(peer));
      return shuffled(fit, random).sort((a, b) => rank(a) - rank(b));
    },
    isAnnounced: (item) => holders.has(itemKey(item)),
    announced(item, owner) {
      const key = itemKey(item);
      const having = holders.get(key) ?? new Set();
      holders.set(key, having);
      if (having.size < HOLDERS_MAX) having.add(latin1(owner));
    },
    ask(item, owner) {
      const key = latin1(owner);
      if (heldBack.has(key) && asked.of(key) >= HELD_BACK_MAX) return undefined;
      asked.add(key, 1);
      const since = clock.monotonic();
      return (received) => {
        asked.add(key, -1);
        note(item, owner, received, clock.monotonic() - since);
      };
    },
    clearFailure(owner) {
      failures.delete(latin1(owner));
      busy.delete(latin1(owner));
    },
  };
}

/** In any order, so that the members share the load. */
function shuffled<T>(list: readonly T[], random: Random): T[] {
  const dice = random.bytes(list.length);
  return list
    .map((item, i) => ({ item, at: dice[i]! }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
