/**
 * Limits the confidential data that this node accepts: quotas for each policy, each account and for
 * all together, disk space that stays free, and a list of accounts whose policies it takes data of.
 * Otherwise any account that may name a node as recipient could fill its disk, 20 MiB with every
 * transaction, or use up the room of all others.
 *
 * An account answers for the policies that it has created, since anybody may name others as owners,
 * and for the data that it has bound, since members of a policy need no consent of its creator. Of
 * the room of a policy and of its creator, a member that is not the creator gets a part only. What
 * this node's own account binds takes the room of no other account, and none but the whole limits it.
 *
 * Invariant: room for the longest item is reserved before a transfer begins, so that parallel
 * transfers never exceed a quota. Rows of its own count the accepted bytes.
 */

import { base58 } from '../base/base58.ts';
import { concat, equal, latin1 } from '../base/bytes.ts';
import type { Log } from '../base/ports.ts';
import { PRIVATE_DATA_BYTES_MAX, type PrivateStore, storageFailed } from '../base/private-store.ts';
import { BoundedCache } from '../concurrency/bounded-cache.ts';
import type { Arrivals } from './arrivals.ts';
import { type ItemId, itemBytes } from './item-id.ts';
import {
  type CountedItem,
  inAll,
  inPolicyOf,
  ofCreator,
  ofPolicy,
  ofSender,
  StoredBytes,
  type StoredBytesPorts,
  underCreatorOf,
} from './stored-bytes.ts';

export interface QuotaOptions {
  readonly policyBytesMax: number;
  /** For the policies that one account has created, and for the data that one account has bound. */
  readonly accountBytesMax: number;
  readonly totalBytesMax: number;
  readonly freeBytesMin: number;
  /** Data of policies that others have created are refused; empty: of none. */
  readonly acceptedCreators: readonly Uint8Array[];
}

export type QuotaLimit =
  | 'not-accepted'
  | 'policy-quota'
  | 'creator-quota'
  | 'sender-quota'
  | 'member-share'
  | 'quota'
  | 'free-space';

export interface QuotaPorts extends StoredBytesPorts {
  readonly store: PrivateStore;
  readonly log: Log;
  /** `privacy.owner-address`. */
  readonly ownerAddress: Uint8Array;
  /** The account that has created a policy; undefined where there is no such policy. */
  readonly creatorOf: (policyId: Uint8Array) => Uint8Array | undefined;
  readonly onRefused: (limit: QuotaLimit) => void;
}

export interface Quota {
  /** The same store; a write above a limit rejects with PrivateStoreError of kind `storage`. */
  readonly store: PrivateStore;
  /**
   * Undefined while an item of the greatest length, bound by this account, may be accepted for the
   * policy.
   */
  refusal(item: Bound): Promise<QuotaLimit | undefined>;
  /** Bytes accepted for all policies. */
  bytes(): number;
  /** The order in which items came. */
  readonly arrivals: Arrivals;
  /** Counts an item that is stored, where a crash came before it counted. Never rejects. */
  found(item: Bound): Promise<void>;
  /**
   * Subtracts what was deleted, in a part of the items at a time. True where there are more in this
   * round. Rejects where the store fails.
   */
  forgetDeleted(isStopped: () => boolean): Promise<boolean>;
}

/** The identity of an item, with the account that bound its hash. */
export interface Bound extends ItemId {
  readonly sender: Uint8Array;
}

/** Policies whose refusal was logged; the oldest are dropped first. */
const WARNED_MAX = 1000;
/** Items that are looked for at a time. */
const LOOKED_FOR = 1_000;
const FIRST_ROW = new Uint8Array(64);
/** A member gets this part of the room of a policy, and of a creator; but two items of any length. */
const MEMBER_PART = 2;
const MEMBER_BYTES_MIN = 2 * PRIVATE_DATA_BYTES_MAX;

const memberShare = (bytesMax: number): number =>
  Math.max(Math.min(bytesMax, MEMBER_BYTES_MIN), Math.floor(bytesMax / MEMBER_PART));

type Limit = readonly [name: QuotaLimit, taken: number, bytesMax: number];

export function createQuota(options: QuotaOptions, ports: QuotaPorts): Quota {
  const { store, log } = ports;
  const { acceptedCreators, accountBytesMax } = options;
  const { ownerAddress } = ports;
  const stored = new StoredBytes(ports);
  const warned = new BoundedCache<string, true>(WARNED_MAX);
  /** Where the search for deleted items goes on. */
  let from: Uint8Array = FIRST_ROW;

  function counted({ policyId, hash, sender }: Bound): CountedItem | undefined {
    const creator = ports.creatorOf(policyId);
    return creator && { policyId, hash, sender, creator };
  }

  const isAccepted = (creator: Uint8Array): boolean =>
    acceptedCreators.length === 0 || acceptedCreators.some((one) => equal(one, creator));

  const isOwn = ({ sender }: CountedItem): boolean => equal(sender, ownerAddress);

  /** `needed`: bytes in addition to the reserved ones. */
  async function limitOf(
    item: CountedItem | undefined,
    needed: number,
  ): Promise<QuotaLimit | undefined> {
    if (item === undefined || !(isOwn(item) || isAccepted(item.creator))) return 'not-accepted';
    const free = await store.freeBytes?.();
    if (free !== undefined && free - stored.reservedFor(inAll) - needed < options.freeBytesMin) {
      return 'free-space';
    }
    return limitsFor(item).find(([, taken, bytesMax]) => taken + needed > bytesMax)?.[0];
  }

  function limitsFor(item: CountedItem): readonly Limit[] {
    const all: Limit = ['quota', stored.taken(inAll), options.totalBytesMax];
    if (isOwn(item)) return [all];
    const { policyId, creator, sender } = item;
    const { policyBytesMax } = options;
    const byOthers = (sum: string, own: string): number => stored.taken(sum) - stored.taken(own);
    const inPolicy = byOthers(ofPolicy(policyId), inPolicyOf(policyId, ownerAddress));
    const underCreator = byOthers(ofCreator(creator), underCreatorOf(creator, ownerAddress));
    const limits: Limit[] = [
      ['policy-quota', inPolicy, policyBytesMax],
      ['creator-quota', underCreator, accountBytesMax],
      ['sender-quota', stored.taken(ofSender(sender)), accountBytesMax],
      all,
    ];
    if (equal(sender, creator)) return limits;
    const inPolicyOwn = stored.taken(inPolicyOf(policyId, sender));
    const underCreatorOwn = stored.taken(underCreatorOf(creator, sender));
    return [
      ...limits,
      ['member-share', inPolicyOwn, memberShare(policyBytesMax)],
      ['member-share', underCreatorOwn, memberShare(accountBytesMax)],
    ];
  }

  /** Logged once for a policy, until there is room again. */
  async function refusedBy(
    policyId: Uint8Array,
    item: CountedItem | undefined,
    needed: number,
  ): Promise<QuotaLimit | undefined> {
    const limit = await limitOf(item, needed);
    const key = latin1(policyId);
    if (limit === undefined) {
      warned.delete(key);
      return undefined;
    }
    ports.onRefused(limit);
    if (!warned.has(key)) warn(policyId, limit);
    warned.set(key, true);
    return limit;
  }

  function warn(policyId: Uint8Array, limit: QuotaLimit): void {
    const policy = base58.encode(policyId);
    if (limit === 'not-accepted') log.warn('privacy.not-accepted', { policy });
    else log.warn('privacy.no-room', { policy, limit });
  }

  const isGone = async ({ policyId, hash }: ItemId): Promise<boolean> =>
    (await store.info(policyId, hash)) === undefined;

  return {
    refusal: (item) => refusedBy(item.policyId, counted(item), PRIVATE_DATA_BYTES_MAX),
    bytes: () => stored.stored(inAll),
    arrivals: stored.arrivals,
    async forgetDeleted(isStopped) {
      const items = stored.items(from, LOOKED_FOR);
      for (const item of items) {
        if (isStopped()) return false;
        if (await isGone(item)) await stored.subtract(item, () => isGone(item));
        from = concat(itemBytes(item), Uint8Array.of(0));
      }
      const isMore = items.length === LOOKED_FOR;
      if (!isMore) from = FIRST_ROW;
      return isMore;
    },
    async found(item) {
      const charged = counted(item);
      if (charged === undefined || stored.has(item)) return;
      // The storage logs its own failures; the item counts when it is found again.
      const data = await store.read(item.policyId, item.hash).catch(() => undefined);
      if (data !== undefined) await stored.add(charged, data.length);
    },
    store: {
      ...store,
      async write(item, pieces) {
        const charged = counted(item);
        if (charged !== undefined) stored.reserve(charged, PRIVATE_DATA_BYTES_MAX);
        try {
          const limit = await refusedBy(item.policyId, charged, 0);
          if (limit !== undefined) throw storageFailed(`no room: ${limit}`);
          let bytes = 0;
          await store.write(
            item,
            counting(pieces, (length) => (bytes += length)),
          );
          if (charged !== undefined) await stored.add(charged, bytes);
        } finally {
          if (charged !== undefined) stored.reserve(charged, -PRIVATE_DATA_BYTES_MAX);
        }
      },
    },
  };
}

async function* counting(
  pieces: AsyncIterable<Uint8Array>,
  add: (bytes: number) => void,
): AsyncIterable<Uint8Array> {
  for await (const piece of pieces) {
    add(piece.length);
    yield piece;
  }
}
