/**
 * What a vendor of storage does for the confidential data (base/private-store.ts): it keeps bytes
 * and gives them back. Whether they are the right ones is judged once for all vendors, in
 * `verified.ts`.
 */
import type { PrivateItem } from '../../base/private-store.ts';

/** Calls reject with any error where the storage fails. */
export interface Shelf {
  info(policyId: Uint8Array, hash: Uint8Array): Promise<PrivateItem | undefined>;
  policiesOf(hash: Uint8Array): Promise<readonly Uint8Array[]>;
  /**
   * A way to read the data from their beginning, as often as wanted; undefined where there are
   * none. Nothing is held open between the calls.
   */
  open(
    policyId: Uint8Array,
    hash: Uint8Array,
  ): Promise<(() => AsyncIterable<Uint8Array>) | undefined>;
  /**
   * Item and data come to be in one durable step, in place of those that were there, or not at all.
   * Where `pieces` throws, that error comes through and nothing has changed.
   */
  put(item: PrivateItem, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /** Absent where the vendor cannot tell. */
  freeBytes?(): Promise<number>;
  stop(): Promise<void>;
}
