/**
 * Limits the confidential data that this node accepts: quotas for each policy, each account and for
 * all together, disk space that stays free, and a list of accounts whose policies it takes data of.
 * Otherwise any account that may name a node as recipient could fill its disk, 20 MiB with every
 * transaction, or use up the room of all others.
 *
 * An account answers for the policies that it has created, since anybody may name others as owners,
 * and for the data that it has bound, since members of a policy need no consent of its creator.
 *
 * Invariant: room for the longest item is reserved before a transfer begins, so that parallel
 * transfers never exceed a quota. Rows of its own count the accepted bytes.
 */
import { base58 } from '../base/base58.ts';
import { concat, equal, latin1 } from '../base/bytes.ts';
import type { Log } from '../base/ports.ts';
import { PRIVATE_DATA_BYTES_MAX, type PrivateStore, storageFailed } from '../base/private-store.ts';
import { type ItemId, itemBytes } from './item-id.ts';
import {
  type CountedItem,
  inAll,
  ofCreator,
  ofPolicy,
  ofSender,
  StoredBytes,
  type StoredBytesPorts,
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
  | 'quota'
  | 'free-space';

export interface QuotaPorts extends StoredBytesPorts {
  readonly store: PrivateStore;
  readonly log: Log;
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
  /** Subtracts what was deleted, in a part of the items at a time. Rejects where the store fails. */
  forgetDeleted(isStopped: () => boolean): Promise<void>;
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

export function createQuota(options: QuotaOptions, ports: QuotaPorts): Quota {
  const { store, log } = ports;
  const { acceptedCreators, accountBytesMax } = options;
  const stored = new StoredBytes(ports);
  const warned = new Set<string>();
  /** Where the search for deleted items goes on. */
  let from: Uint8Array = FIRST_ROW;

  function counted({ policyId, hash, sender }: Bound): CountedItem | undefined {
    const creator = ports.creatorOf(policyId);
    return creator && { policyId, hash, sender, creator };
  }

  const isAccepted = (creator: Uint8Array): boolean =>
    acceptedCreators.length === 0 || acceptedCreators.some((one) => equal(one, creator));

  /** `needed`: bytes in addition to the reserved ones. */
  async function limitOf(
    item: CountedItem | undefined,
    needed: number,
  ): Promise<QuotaLimit | undefined> {
    if (item === undefined || !isAccepted(item.creator)) return 'not-accepted';
    const free = await store.freeBytes?.();
    if (free !== undefined && free - stored.reservedFor(inAll) - needed < options.freeBytesMin) {
      return 'free-space';
    }
    const limits: readonly (readonly [limit: QuotaLimit, sum: string, bytesMax: number])[] = [
      ['policy-quota', ofPolicy(item.policyId), options.policyBytesMax],
      ['creator-quota', ofCreator(item.creator), accountBytesMax],
      ['sender-quota', ofSender(item.sender), accountBytesMax],
      ['quota', inAll, options.totalBytesMax],
    ];
    return limits.find(([, sum, bytesMax]) => stored.taken(sum) + needed > bytesMax)?.[0];
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
    warned.add(key);
    if (warned.size > WARNED_MAX) warned.delete(warned.values().next().value ?? '');
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
    async forgetDeleted(isStopped) {
      const items = stored.items(from, LOOKED_FOR);
      for (const item of items) {
        if (isStopped()) return;
        if (await isGone(item)) await stored.subtract(item, () => isGone(item));
        from = concat(itemBytes(item), Uint8Array.of(0));
      }
      if (items.length < LOOKED_FOR) from = FIRST_ROW;
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
