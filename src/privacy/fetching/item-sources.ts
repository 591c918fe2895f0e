/**
 * The peers to ask for an item (privacy.md#exchange-between-nodes): connected members of its
 * policy, first those that have announced it. Peers that failed recently are left out, and those
 * that were busy come last.
 *
 * Invariant: a peer is asked for no more items at a time than it answers, so that whoever is silent
 * takes few places from the items of others.
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
  /** Items that a peer is asked for at a time. */
  readonly askedAtOnce: number;
}

export interface SourcesDeps {
  readonly peers: Pick<Peers, 'all'>;
  readonly view: LedgerView;
  readonly clock: Clock;
  readonly random: Random;
  /** Called when a peer may be asked for so many items more. */
  readonly onFree: (owner: Uint8Array, count: number) => void;
}

/** A session opens no more streams of a protocol at a time (network/sessions/protocols.ts). */
export const STREAMS = 5;
/** Half of the places that lost items have (transfer-lines.ts), so that no kind lacks places. */
const PART = 1 / 8;
/** Items whose holders are remembered, at least, and holders of one item. */
const ITEMS_MAX = 5_000;
const HOLDERS_MAX = 16;

/** `streams`: those of this node's own settings. */
export const askedAtOnce = (transfers: number, streams: number): number =>
  Math.max(1, Math.min(STREAMS, streams, Math.floor(transfers * PART)));

export class Sources {
  private readonly askedAtOnce: number;
  private readonly deps: SourcesDeps;
  private readonly holders = new BoundedCache<string, Set<string>>(ITEMS_MAX);
  private readonly failures: ExpiringSet;
  private readonly slow: ExpiringSet;
  private readonly busy: ExpiringSet;
  /** Requests to each peer. */
  private readonly asked = new Counts<string>();

  constructor({ failedMax, failedMs, askedAtOnce }: SourcesOptions, deps: SourcesDeps) {
    const forAWhile = (): ExpiringSet => new ExpiringSet(failedMax, failedMs, deps.clock);
    this.askedAtOnce = askedAtOnce;
    this.deps = deps;
    this.failures = forAWhile();
    this.slow = forAWhile();
    this.busy = forAWhile();
  }

  /** The best source first. */
  of(item: ItemId): readonly Peer[] {
    const { peers, view, random } = this.deps;
    const having = this.holders.get(itemKey(item));
    const fit = peers
      .all()
      .filter(({ mode }) => mode !== 'watcher')
      .filter(({ owner }) => isMember(view, item.policyId, RECIPIENT, owner))
      .filter(({ owner }) => !this.isOut(latin1(owner)));
    const isHolder = ({ owner }: Peer): boolean => having?.has(latin1(owner)) === true;
    const rank = (peer: Peer): number =>
      this.isBusy(latin1(peer.owner)) ? 2 : Number(!isHolder(peer));
    return shuffled(fit, random).sort((a, b) => rank(a) - rank(b));
  }

  /** It did not begin to answer lately. */
  isBusy(owner: string): boolean {
    return this.busy.has(owner);
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
    const key = latin1(owner);
    if (this.asked.of(key) >= this.askedAtOnce) return undefined;
    this.asked.add(key, 1);
    return (received) => {
      this.asked.add(key, -1);
      this.note(item, key, received);
      this.deps.onFree(owner, this.askedAtOnce - this.asked.of(key));
    };
  }

  /** How many items more each connected peer may be asked for, by the addresses of their owners. */
  free(): ReadonlyMap<string, number> {
    const owners = this.deps.peers.all().map(({ owner }) => latin1(owner));
    const able = owners.filter((owner) => !this.isOut(owner));
    return new Map(able.map((owner) => [owner, this.askedAtOnce - this.asked.of(owner)]));
  }

  /**
   * A peer that has reconnected is asked again, unless it was slow. One that was busy still comes
   * last: whoever is silent could else delay some new items each time that it connects.
   */
  clearFailure(owner: Uint8Array): void {
    this.failures.delete(latin1(owner));
  }

  private isOut(owner: string): boolean {
    return this.failures.has(owner) || this.slow.has(owner);
  }

  private note(item: ItemId, owner: string, received: Received): void {
    if (received === 'nothing') this.holders.get(itemKey(item))?.delete(owner);
    if (received === 'failed') this.failures.add(owner);
    // A new connection does not make it faster.
    if (received === 'slow') this.slow.add(owner);
    if (received === 'busy') this.busy.add(owner);
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
