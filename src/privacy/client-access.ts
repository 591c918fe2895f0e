/** Answers to the clients of this node about data of policies. */

import { base58 } from '../base/base58.ts';
import { type ApiError, apiError } from '../base/errors.ts';
import {
  type PrivateData,
  type PrivateItem,
  type PrivateStore,
  PrivateStoreError,
} from '../base/ports/private-store.ts';
import { ID_BYTES } from '../base/sizes.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { KeyedView } from '../ledger/committed-view.ts';
import { boundHash, isMember, policyOf, RECIPIENT } from '../ledger/policies.ts';
import type { FetchQueue } from './fetching/fetch-queue.ts';
import type { ChainFollower } from './fetching/follow-chain.ts';
import type { ItemId } from './protocol/item-id.ts';

export interface AccessPorts {
  readonly scheme: ChainScheme;
  readonly view: KeyedView;
  readonly store: PrivateStore;
  /** `privacy.owner-address`. */
  readonly ownerAddress: Uint8Array;
  /** Whether an item counts for the quotas. */
  readonly counts: (item: ItemId) => boolean;
  /** Undefined where the node takes no part in the exchange. */
  readonly exchange: { readonly follow: ChainFollower; readonly queue: FetchQueue } | undefined;
}

export interface Synced {
  /** Why nothing was done. */
  readonly problem?: string;
  /** The number of items that are now being fetched. */
  readonly restarted: number;
}

export interface Access {
  /**
   * The item in the named policy, or in any policy with data of this hash. Rejects with
   * PolicyNotFound, or with PolicyDataMissing; it then also starts to fetch the data.
   */
  info(hash: Uint8Array, policyId?: Uint8Array): Promise<PrivateItem>;
  data(hash: Uint8Array, policyId?: Uint8Array): Promise<PrivateData>;
  holds(item: ItemId): Promise<boolean>;
  /**
   * Fetches the missing items of one policy, or of all policies of this node. `address` is the
   * asking account; default: the owner.
   */
  sync(policyId?: Uint8Array, address?: Uint8Array): Promise<Synced>;
}

export function createAccess(ports: AccessPorts): Access {
  const { scheme, view, store, ownerAddress, counts, exchange } = ports;

  function known(policyId: Uint8Array): Uint8Array {
    const policy = policyId.length === ID_BYTES ? policyOf(view, policyId) : undefined;
    if (policy === undefined) throw apiError('PolicyNotFound');
    return policyId;
  }

  async function find(hash: Uint8Array, policyId: Uint8Array | undefined): Promise<PrivateItem> {
    const policies = policyId === undefined ? await store.policiesOf(hash) : [known(policyId)];
    for (const id of policies) {
      const item = await store.info(id, hash);
      // The peer that sent the data may have lied about the sender; the chain says who bound the
      // hash.
      if (item !== undefined)
        return { ...item, sender: boundHash(view, id, hash)?.sender ?? item.sender };
    }
    throw await missing(hash, policyId);
  }

  async function missing(hash: Uint8Array, policyId: Uint8Array | undefined): Promise<ApiError> {
    await exchange?.follow.visitPolicies(policyId, (id) => {
      if (boundHash(view, id, hash) !== undefined) exchange.queue.want({ policyId: id, hash });
    });
    return apiError('PolicyDataMissing', base58.encode(hash));
  }

  async function sync(policyId?: Uint8Array, address = ownerAddress): Promise<Synced> {
    if (policyId !== undefined && !isMember(view, known(policyId), RECIPIENT, address)) {
      const name = policyOf(view, policyId)!.name;
      const problem = `Address '${scheme.addressToText(address)}' not in policy '${name}'`;
      return { problem, restarted: 0 };
    }
    let restarted = 0;
    await exchange?.follow.visit(policyId, async (item) => {
      const isThere = (await store.info(item.policyId, item.hash)) !== undefined;
      // An operator may have put it back with the means of the storage: the attempt counts it.
      if (isThere && counts(item)) return;
      exchange.queue.want(item);
      if (!isThere) restarted++;
    });
    return { restarted };
  }

  return {
    info: (hash, policyId) => answering(() => find(hash, policyId)),
    data: (hash, policyId) =>
      answering(async () => {
        const item = await find(hash, policyId);
        const data = await store.read(item.policyId, hash);
        if (data === undefined) throw await missing(hash, item.policyId);
        return data;
      }),
    holds: ({ policyId, hash }) =>
      answering(async () => (await store.info(policyId, hash)) !== undefined),
    async sync(policyId, address) {
      try {
        return await sync(policyId, address);
      } catch (cause) {
        throw cause instanceof PrivateStoreError ? apiError('ForceSyncFailed') : cause;
      }
    },
  };
}

/** Turns a failure of the storage into the answer for clients. */
export async function answering<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    throw cause instanceof PrivateStoreError ? cause.answer : cause;
  }
}
