/** One attempt at an item: its possible sources one after the other, until one delivers. */
import type { Log } from '../base/ports.ts';
import { boundHash, isMember, RECIPIENT } from '../ledger/policies.ts';
import { type ItemId, namesOf } from './item.ts';
import { pull } from './pull.ts';
import type { TransferPorts } from './session-key.ts';
import type { Sources } from './sources.ts';
import type { Outcome } from './wanted.ts';

export interface FetchPorts extends TransferPorts {
  readonly sources: Sources;
  readonly log: Log;
  /** It is here, for others to have. */
  readonly onStored: (item: ItemId) => void;
}

export function createFetch(
  timeoutMs: number,
  ports: FetchPorts,
): (item: ItemId) => Promise<Outcome> {
  const { view, store, sources, log, chain, owner } = ports;

  const isWanted = ({ policyId, hash }: ItemId): boolean =>
    isMember(view, policyId, RECIPIENT, owner.address) &&
    boundHash(view, policyId, hash) !== undefined;

  /** A storage that does not answer is logged where it is called, and asked again later. */
  const isStored = ({ policyId, hash }: ItemId): Promise<boolean | undefined> =>
    store.info(policyId, hash).then(
      (info) => info !== undefined,
      () => undefined,
    );

  return async (item) => {
    if (!isWanted(item)) return 'settled';
    const stored = await isStored(item);
    if (stored !== false) return stored === true ? 'settled' : 'missing';
    for (const peer of sources.of(item)) {
      if (!isWanted(item)) return 'settled';
      const pulled = await pull(peer, item, timeoutMs, ports);
      if (pulled === 'stored') {
        log.info('privacy.fetched', { ...namesOf(item), from: chain.addressToText(peer.owner) });
        ports.onStored(item);
        return 'settled';
      }
      if (pulled === 'unstored') return 'missing';
      if (pulled === 'failed') sources.failed(peer.owner);
    }
    return 'missing';
  };
}
