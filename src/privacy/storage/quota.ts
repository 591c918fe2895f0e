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

import { unlessOurs } from '../../base/assert.ts';
import { base58 } from '../../base/base58.ts';
import { concat, equal, latin1 } from '../../base/bytes.ts';
import { stringify } from '../../base/json/json.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import {
  PRIVATE_DATA_BYTES_MAX,
  type PrivateItem,
  type PrivateStore,
  storageFailed,
} from '../../base/ports/private-store.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import { type ItemId, itemBytes } from '../protocol/item-id.ts';
import type { Arrivals } from './arrivals.ts';
import {
  type CountedItem,
  ITEM_BYTES_MIN,
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

export interface QuotaDeps extends StoredBytesPorts {
  readonly store: PrivateStore;
  readonly log: Log;
  /** `privacy.owner-address`. */
  readonly ownerAddress: Uint8Array;
  /** The account that has created a policy; undefined where there is no such policy. */
  readonly creatorOf: (policyId: Uint8Array) => Uint8Array | undefined;
  readonly onRefused: (limit: QuotaLimit) => void;
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

/**
 * The bytes of its texts, as files have them, beyond those that every item counts for: they may be
 * far more than the data.
 */
function longTextsOf({ type, filename, size, author, comment }: PrivateItem): number {
  const bytes = Buffer.byteLength(stringify([type, filename, size, author, comment]));
  return Math.max(0, bytes - ITEM_BYTES_MIN);
}

type Limit = readonly [name: QuotaLimit, taken: number, bytesMax: number];

export class Quota {
  /** The same store; a write above a limit rejects with PrivateStoreError of kind `storage`. */
  readonly store: PrivateStore;
  private readonly options: QuotaOptions;
  private readonly deps: QuotaDeps;
  private readonly stored: StoredBytes;
  private readonly warned = new BoundedCache<string, true>(WARNED_MAX);
  /** Where the search for deleted items goes on. */
  private from: Uint8Array = FIRST_ROW;

  constructor(options: QuotaOptions, deps: QuotaDeps) {
    this.options = options;
    this.deps = deps;
    this.stored = new StoredBytes(deps);
    this.store = { ...deps.store, write: (...put) => this.write(...put) };
  }

  /**
   * Undefined while an item of the greatest length, bound by this account, may be accepted for the
   * policy.
   */
  refusal(item: Bound): Promise<QuotaLimit | undefined> {
    return this.refusedBy(item.policyId, this.counted(item), PRIVATE_DATA_BYTES_MAX);
  }

  /** Bytes accepted for all policies. */
  bytes(): number {
    return this.stored.stored(inAll);
  }

  counts(item: ItemId): boolean {
    return this.stored.has(item);
  }

  /** The order in which items came. */
  get arrivals(): Arrivals {
    return this.stored.arrivals;
  }

  /** Counts an item that is stored, where a crash came before it counted. Never rejects. */
  async found(item: Bound): Promise<void> {
    const charged = this.counted(item);
    if (charged === undefined || this.stored.has(item)) return;
    const { policyId, hash } = item;
    // The storage logs its own failures; the item counts when it is found again.
    const data = await this.deps.store.read(policyId, hash).catch(() => undefined);
    const info = data && (await this.deps.store.info(policyId, hash).catch(() => undefined));
    if (info !== undefined) await this.stored.add(charged, data!.length + longTextsOf(info));
  }

  /**
   * Subtracts what was deleted, in a part of the items at a time. True where there are more in this
   * round. Rejects where the store fails.
   */
  async forgetDeleted(isStopped: () => boolean): Promise<boolean> {
    const items = this.stored.items(this.from, LOOKED_FOR);
    for (const item of items) {
      if (isStopped()) return false;
      const isGone = async (): Promise<boolean> =>
        (await this.deps.store.info(item.policyId, item.hash)) === undefined;
      if (await isGone()) await this.stored.subtract(item, isGone);
      this.from = concat(itemBytes(item), Uint8Array.of(0));
    }
    const isMore = items.length === LOOKED_FOR;
    if (!isMore) this.from = FIRST_ROW;
    return isMore;
  }

  private async write(...[item, pieces, source]: Parameters<PrivateStore['write']>): Promise<void> {
    const { stored } = this;
    const charged = this.counted(item);
    const texts = longTextsOf(item);
    const reserved = PRIVATE_DATA_BYTES_MAX + texts;
    if (charged !== undefined) stored.reserve(charged, reserved);
    try {
      const limit = await this.refusedBy(item.policyId, charged, 0);
      if (limit !== undefined) throw storageFailed(`no room: ${limit}`);
      let bytes = 0;
      await this.deps.store.write(
        item,
        counting(pieces, (length) => (bytes += length)),
        source,
      );
      if (charged !== undefined) await stored.add(charged, bytes + texts);
    } finally {
      if (charged !== undefined) stored.reserve(charged, -reserved);
    }
  }

  private counted({ policyId, hash, sender }: Bound): CountedItem | undefined {
    const creator = this.deps.creatorOf(policyId);
    return creator && { policyId, hash, sender, creator };
  }

  private isAccepted(creator: Uint8Array): boolean {
    const { acceptedCreators: accepted } = this.options;
    return accepted.length === 0 || accepted.some((one) => equal(one, creator));
  }

  private isOwn({ sender }: CountedItem): boolean {
    return equal(sender, this.deps.ownerAddress);
  }

  /** Logged once for a policy, until there is room again. */
  private async refusedBy(
    policyId: Uint8Array,
    item: CountedItem | undefined,
    needed: number,
  ): Promise<QuotaLimit | undefined> {
    const limit = await this.limitOf(item, needed);
    const key = latin1(policyId);
    if (limit === undefined) {
      this.warned.delete(key);
      return undefined;
    }
    this.deps.onRefused(limit);
    if (!this.warned.has(key)) this.warn(policyId, limit);
    this.warned.set(key, true);
    return limit;
  }

  private warn(policyId: Uint8Array, limit: QuotaLimit): void {
    const policy = base58.encode(policyId);
    if (limit === 'not-accepted') this.deps.log.warn('privacy.not-accepted', { policy });
    else this.deps.log.warn('privacy.no-room', { policy, limit });
  }

  /** `needed`: bytes in addition to the reserved ones. */
  private async limitOf(
    item: CountedItem | undefined,
    needed: number,
  ): Promise<QuotaLimit | undefined> {
    if (item === undefined || !(this.isOwn(item) || this.isAccepted(item.creator))) {
      return 'not-accepted';
    }
    const free = await this.deps.store.freeBytes?.();
    const reserved = this.stored.reservedFor(inAll);
    if (free !== undefined && free - reserved - needed < this.options.freeBytesMin) {
      return 'free-space';
    }
    return this.limitsFor(item).find(([, taken, bytesMax]) => taken + needed > bytesMax)?.[0];
  }

  private limitsFor(item: CountedItem): readonly Limit[] {
    const { stored } = this;
    const { ownerAddress } = this.deps;
    const { policyBytesMax, accountBytesMax, totalBytesMax } = this.options;
    const all: Limit = ['quota', stored.taken(inAll), totalBytesMax];
    if (this.isOwn(item)) return [all];
    const { policyId, creator, sender } = item;
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

/** From the end of a round through all items to the next. */
export const SEARCH_EVERY_MS = 600_000;
/** Between two parts of a round. */
export const NEXT_PART_MS = 1_000;

interface Search {
  start(): void;
  /** Resolves when no search is under way. */
  stop(): Promise<void>;
}

/**
 * Looks now and then for items that an operator has deleted with the means of the storage, so that
 * they no longer count. `search` looks for a part of the items, and says whether the round has more; it rejects where
 * the storage fails, which logs that; it is tried again.
 */
export function createSearch(
  search: (isStopped: () => boolean) => Promise<boolean>,
  clock: Clock,
): Search {
  let cancel = (): void => {};
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  function after(ms: number): void {
    if (stopped) return;
    cancel = clock.after(ms, () => {
      running = search(() => stopped)
        .catch(unlessOurs(() => false))
        .then((isMore) => after(isMore === true ? NEXT_PART_MS : SEARCH_EVERY_MS));
    });
  }

  return {
    start: () => after(SEARCH_EVERY_MS),
    async stop() {
      stopped = true;
      cancel();
      await running;
    },
  };
}
