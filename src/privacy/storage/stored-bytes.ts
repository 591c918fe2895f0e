/**
 * How many bytes of confidential data this node has stored, in rows of its own: in all, for each
 * policy, for each account that has created policies, for each account that has bound data, and of
 * one that has bound data, for each policy and for each creator. It also knows how many are reserved
 * for transfers under way.
 *
 * Invariant: a row for each item says what it counts for, and changes together with the sums. So an
 * item counts once, however often it is stored, and what is deleted is subtracted. A sum of zero has
 * no row, so there are at most five rows of sums for an item.
 */

import { unlessOurs } from '../../base/assert.ts';
import { base58 } from '../../base/base58.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Store, StoreWrite } from '../../base/ports/store.ts';
import { type ChainScheme, Reader } from '../../codec/codec.ts';
import { scratch } from '../../codec/scratch.ts';
import { Counts } from '../../concurrency/counts.ts';
import { Mutex } from '../../concurrency/mutex.ts';
import { END_OF_TABLE, u64Key } from '../../ledger/key-codecs.ts';
import { meta, privateStored } from '../../ledger/tables.ts';
import { type ItemId, itemBytes, itemOfBytes } from '../protocol/item-id.ts';
import { Arrivals } from './arrivals.ts';

export interface StoredBytesPorts {
  /** The store of the node's own rows. */
  readonly rows: Pick<Store, 'get' | 'range' | 'write'>;
  readonly scheme: ChainScheme;
  readonly log: Log;
}

/** The accounts that an item counts for. */
export interface Answerable {
  /** Created the policy. */
  readonly creator: Uint8Array;
  /** Bound the hash. */
  readonly sender: Uint8Array;
}

export interface CountedItem extends ItemId, Answerable {}

const TOTAL = 'privacy-bytes';
/** An item takes no less, with its file and its rows, so a quota limits their number, too. */
export const ITEM_BYTES_MIN = 4096;

/** Names of the sums. */
export const inAll = TOTAL;
export const ofPolicy = (policyId: Uint8Array): string => `${TOTAL}/${base58.encode(policyId)}`;
export const ofCreator = (address: Uint8Array): string =>
  `${TOTAL}/creator/${base58.encode(address)}`;
export const ofSender = (address: Uint8Array): string =>
  `${TOTAL}/sender/${base58.encode(address)}`;

export const inPolicyOf = (policyId: Uint8Array, sender: Uint8Array): string =>
  `${ofPolicy(policyId)}/${base58.encode(sender)}`;
export const underCreatorOf = (creator: Uint8Array, sender: Uint8Array): string =>
  `${ofCreator(creator)}/${base58.encode(sender)}`;

export const sumsOf = ({ policyId, creator, sender }: CountedItem): readonly string[] => [
  inAll,
  ofPolicy(policyId),
  ofCreator(creator),
  ofSender(sender),
  inPolicyOf(policyId, sender),
  underCreatorOf(creator, sender),
];

export class StoredBytes {
  private readonly ports: StoredBytesPorts;
  private readonly reserved = new Counts<string>();
  /** Each change continues from the last. */
  private readonly changes = new Mutex();
  readonly arrivals: Arrivals;

  constructor(ports: StoredBytesPorts) {
    this.ports = ports;
    this.arrivals = new Arrivals(ports.rows);
  }

  /** Without the reserved ones. */
  stored(sum: string): number {
    const value = this.ports.rows.get(meta.id, meta.key.encode(sum));
    return value === undefined ? 0 : u64Key.decode(value);
  }

  reservedFor(sum: string): number {
    return this.reserved.of(sum);
  }

  /** Stored or reserved. */
  taken(sum: string): number {
    return this.stored(sum) + this.reservedFor(sum);
  }

  /** Negative: they are no longer reserved. */
  reserve(item: CountedItem, bytes: number): void {
    for (const sum of sumsOf(item)) this.reserved.add(sum, bytes);
  }

  /** The items with a row, in the order of their keys, from this key on. */
  items(from: Uint8Array, limit: number): ItemId[] {
    const rows = this.ports.rows.range(privateStored.id, from, END_OF_TABLE, limit);
    return Array.from(rows, ([key]) => itemOfBytes(key.slice()));
  }

  /** True where the item counts. */
  has(item: ItemId): boolean {
    return this.rowOf(item) !== undefined;
  }

  /** The item is stored with so many bytes. Never rejects but for a fault of this node. */
  add(item: CountedItem, length: number): Promise<void> {
    const bytes = Math.max(ITEM_BYTES_MIN, length);
    return this.inTurn(() => this.replace(item, { ...item, bytes }));
  }

  /** Subtracts the item if it is still gone when its turn comes. Rejects where `isGone` does. */
  async subtract(item: ItemId, isGone: () => Promise<boolean>): Promise<void> {
    let failure: unknown;
    await this.inTurn(async () => {
      try {
        if (await isGone()) await this.replace(item, undefined);
      } catch (cause) {
        failure = cause;
      }
    });
    if (failure !== undefined) throw failure;
  }

  /** Never rejects but for a fault of this node. */
  private inTurn(change: () => Promise<void>): Promise<void> {
    const { log } = this.ports;
    return this.changes
      .run(change)
      .catch(unlessOurs((cause) => log.error('privacy.backlog-failed', { why: String(cause) })));
  }

  private async replace(id: ItemId, next: (CountedItem & { bytes: number }) | undefined) {
    const old = this.rowOf(id);
    const changes = new Map<string, number>();
    const count = (item: CountedItem, bytes: number): void => {
      for (const sum of sumsOf(item)) changes.set(sum, (changes.get(sum) ?? 0) + bytes);
    };
    if (old !== undefined) count({ ...id, ...old }, -old.bytes);
    if (next !== undefined) count(next, next.bytes);
    const sums = Array.from(changes, ([sum, change]): StoreWrite => {
      const bytes = Math.max(0, this.stored(sum) + change);
      const value = bytes === 0 ? undefined : u64Key.encode(bytes);
      return { table: meta.id, key: meta.key.encode(sum), value };
    });
    const value = next && this.encoded(next);
    const isNew = old === undefined && value !== undefined;
    await this.ports.rows.write([
      ...sums,
      { table: privateStored.id, key: itemBytes(id), value },
      ...(isNew ? [this.arrivals.row(id)] : []),
    ]);
    if (isNew) this.arrivals.came();
  }

  private rowOf(item: ItemId) {
    const row = this.ports.rows.get(privateStored.id, itemBytes(item));
    return row && privateStored.value.read(new Reader(row, this.ports.scheme));
  }

  private encoded(row: Answerable & { readonly bytes: number }): Uint8Array {
    const out = scratch(this.ports.scheme);
    privateStored.value.write(out, row);
    return out.take();
  }
}
