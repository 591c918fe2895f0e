/**
 * One attempt to fetch an item: asks its possible sources, or those that are named, one after the
 * other, until one delivers.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Log } from '../../base/ports/log.ts';
import { type BoundHash, boundHash, isMember, RECIPIENT } from '../../ledger/policies.ts';
import { type ItemId, namesOf } from '../protocol/item-id.ts';
import type { TransferPorts } from '../protocol/session-key.ts';
import type { Bound, QuotaLimit } from '../storage/quota.ts';
import type { Held, Outcome } from './after-attempt.ts';
import type { Sources } from './item-sources.ts';
import { receiveItem } from './receive-item.ts';

export interface FetchPorts extends TransferPorts {
  readonly sources: Pick<Sources, 'of' | 'ask'>;
  readonly log: Log;
  /** Why this item may not be stored now. Never rejects. */
  readonly refusal: (item: Bound) => Promise<QuotaLimit | 'unknown' | undefined>;
  /** Called with an item that was stored before. Never rejects. */
  readonly found: (item: Bound) => Promise<void>;
  /** Called when the item is stored, so that other nodes may have it. */
  readonly onStored: (item: ItemId) => void;
}

export function createFetch(
  timeoutMs: number,
  ports: FetchPorts,
): (item: ItemId, only?: ReadonlySet<string>) => Promise<Outcome | Held> {
  const { view, store, sources, log, scheme } = ports;

  /** What the chain says of an item for this node. */
  const wanted = ({ policyId, hash }: ItemId): BoundHash | undefined =>
    isMember(view, policyId, RECIPIENT, ports.owner.address)
      ? boundHash(view, policyId, hash)
      : undefined;

  /** The storage logs its own failures; the item is then asked for again later. */
  const isStored = ({ policyId, hash }: ItemId): Promise<boolean | undefined> =>
    store.info(policyId, hash).then(
      (info) => info !== undefined,
      () => undefined,
    );

  return async (item, only) => {
    const bound = wanted(item);
    if (bound === undefined) return 'settled';
    const stored = await isStored(item);
    if (stored === undefined) return 'missing';
    if (stored) {
      await ports.found({ ...item, sender: bound.sender });
      // That may have shown that the data are damaged; they are then fetched again.
      if ((await isStored(item)) !== false) return 'settled';
    }
    const refusal = await ports.refusal({ ...item, sender: bound.sender });
    // Nothing but another configuration changes that, so it takes no place among the lost items.
    if (refusal === 'not-accepted') return 'settled';
    if (refusal !== undefined) return 'no-room';
    const heldBy = new Set<string>();
    for (const peer of sources.of(item)) {
      if (wanted(item) === undefined) return 'settled';
      const owner = latin1(peer.owner);
      if (only?.has(owner) === false) continue;
      const end = sources.ask(item, peer.owner);
      if (end === undefined) {
        heldBy.add(owner);
        continue;
      }
      const received = await receiveItem(peer, item, timeoutMs, ports);
      end(received);
      if (received === 'stored') {
        log.info('privacy.fetched', { ...namesOf(item), from: scheme.addressToText(peer.owner) });
        ports.onStored(item);
        return 'settled';
      }
      if (received === 'unstored') return 'missing';
    }
    return heldBy.size > 0 ? { heldBy } : 'missing';
  };
}
