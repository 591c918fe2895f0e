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

export interface SourcesDeps {
  readonly peers: Pick<Peers, 'all'>;
  readonly view: LedgerView;
  readonly clock: Clock;
  readonly random: Random;
  /** Called when a peer delivers that was held back. */
  readonly onDelivering: (owner: Uint8Array) => void;
}

/** Requests to a peer that has let this node wait. */
const HELD_BACK_MAX = 2;
/** A peer with others to answer says much sooner that it has nothing (serve-items.ts). */
const LATE_MS = 30_000;
/** Items whose holders are remembered, at least, and holders of one item. */
const ITEMS_MAX = 5_000;
const HOLDERS_MAX = 16;

export class Sources {
  private readonly deps: SourcesDeps;
  private readonly holders = new BoundedCache<string, Set<string>>(ITEMS_MAX);
  private readonly failures: ExpiringSet;
  private readonly slow: ExpiringSet;
  private readonly busy: ExpiringSet;
  /** Those that have let this node wait, also in sessions before. */
  private readonly heldBack: ExpiringSet;
  /** Requests to each peer. */
  private readonly asked = new Counts<string>();

  constructor({ failedMax, failedMs }: SourcesOptions, deps: SourcesDeps) {
    const forAWhile = (): ExpiringSet => new ExpiringSet(failedMax, failedMs, deps.clock);
    this.deps = deps;
    this.failures = forAWhile();
    this.slow = forAWhile();
    this.busy = forAWhile();
    this.heldBack = forAWhile();
  }

  /** The best source first. */
  of(item: ItemId): readonly Peer[] {
    const { peers, view, random } = this.deps;
    const having = this.holders.get(itemKey(item));
    const fit = peers
      .all()
      .filter(({ mode }) => mode !== 'watcher')
      .filter(({ owner }) => isMember(view, item.policyId, RECIPIENT, owner))
      .filter(({ owner }) => !this.failures.has(latin1(owner)) && !this.slow.has(latin1(owner)));
    const isHolder = ({ owner }: Peer): boolean => having?.has(latin1(owner)) === true;
    const rank = (peer: Peer): number =>
      this.busy.has(latin1(peer.owner)) ? 2 : Number(!isHolder(peer));
    return shuffled(fit, random).sort((a, b) => rank(a) - rank(b));
  }

  /** True if a peer has announced it. */
  isAnnounced(item: ItemId): boolean {
    return this.holders.has(itemKey(item));
  }

  announced(item: ItemId, owner: Uint8Array): void {
    const key = itemKey(item);
    const having = this.holders.get(key) ?? new Set();
    this.holders.set(key, having);
    if (having.size < HOLDERS_MAX) having.add(latin1(owner));
  }

  /** Call before the peer is asked; call the result with what came. Undefined where it is asked enough. */
  ask(item: ItemId, owner: Uint8Array): ((received: Received) => void) | undefined {
    const { clock } = this.deps;
    const key = latin1(owner);
    if (this.heldBack.has(key) && this.asked.of(key) >= HELD_BACK_MAX) return undefined;
    this.asked.add(key, 1);
    const since = clock.monotonic();
    return (received) => {
      this.asked.add(key, -1);
      this.note(item, owner, received, clock.monotonic() - since);
    };
  }

  /** A peer that has reconnected is asked again, unless it was slow. */
  clearFailure(owner: Uint8Array): void {
    this.failures.delete(latin1(owner));
    this.busy.delete(latin1(owner));
  }

  private note(item: ItemId, owner: Uint8Array, received: Received, tookMs: number): void {
    const key = latin1(owner);
    if (received === 'nothing') this.holders.get(itemKey(item))?.delete(key);
    const outcome = received === 'nothing' && tookMs > LATE_MS ? 'busy' : received;
    if (outcome === 'failed') this.failures.add(key);
    // A new connection does not make it faster.
    if (outcome === 'slow') this.slow.add(key);
    if (outcome === 'busy') this.busy.add(key);
    if (outcome === 'failed' || outcome === 'slow' || outcome === 'busy') this.heldBack.add(key);
    if (received !== 'stored') return;
    this.busy.delete(key);
    if (!this.heldBack.has(key)) return;
    this.heldBack.delete(key);
    this.deps.onDelivering(owner);
  }
}

/** In any order, so that the members share the load. */
function shuffled<T>(list: readonly T[], random: Random): T[] {
  const dice = random.bytes(list.length);
  return list
    .map((item, i) => ({ item, at: dice[i]! }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
