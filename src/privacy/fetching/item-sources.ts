/**
 * The peers to ask for an item (privacy.md#exchange-between-nodes): connected members of its
 * policy, first those that have announced it. Peers that failed recently are left out, and those
 * that were busy come last.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Random } from '../../base/ports/random.ts';
import { BoundedCache, ExpiringSet } from '../../concurrency/bounded-cache.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { isMember, RECIPIENT } from '../../ledger/policies.ts';
import { type ItemId, itemKey } from '../protocol/item-id.ts';
import type { Peer, Peers } from '../protocol/peer-ports.ts';

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
  /** Asked for it, the peer had nothing. */
  withdrawn(item: ItemId, owner: Uint8Array): void;
  failed(owner: Uint8Array): void;
  /** A new connection does not make it faster. */
  slow(owner: Uint8Array): void;
  busy(owner: Uint8Array): void;
  /** A peer that has reconnected is asked again, unless it was slow. */
  clearFailure(owner: Uint8Array): void;
}

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
  },
): Sources {
  const { peers, view, clock, random } = ports;
  const holders = new BoundedCache<string, Set<string>>(ITEMS_MAX);
  const failures = new ExpiringSet(options.failedMax, options.failedMs, clock);
  const slow = new ExpiringSet(options.failedMax, options.failedMs, clock);
  const busy = new ExpiringSet(options.failedMax, options.failedMs, clock);

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
    withdrawn: (item, owner) => void holders.get(itemKey(item))?.delete(latin1(owner)),
    failed: (owner) => failures.add(latin1(owner)),
    slow: (owner) => slow.add(latin1(owner)),
    busy: (owner) => busy.add(latin1(owner)),
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
