/**
 * The part of the storage of confidential data (base/ports/private-store.ts) that differs between
 * vendors: keeping bytes and returning them. `verified.ts` checks for all vendors that the bytes
 * are the right ones.
 */
import { base58 } from '../../base/base58.ts';
import type { DataSource, PrivateItem } from '../../base/ports/private-store.ts';

/** Calls reject with any error where the storage fails. */
export interface Shelf {
  info(policyId: Uint8Array, hash: Uint8Array): Promise<PrivateItem | undefined>;
  policiesOf(hash: Uint8Array): Promise<readonly Uint8Array[]>;
  /**
   * A function that reads the data from their beginning, as often as wanted; undefined where there
   * are none. It holds nothing open between calls.
   */
  open(
    policyId: Uint8Array,
    hash: Uint8Array,
  ): Promise<(() => AsyncIterable<Uint8Array>) | undefined>;
  /**
   * Item and data replace the stored ones in one durable step, or not at all. Where `pieces`
   * throws, the error is passed on and nothing has changed.
   */
  put(item: PrivateItem, pieces: AsyncIterable<Uint8Array>, source?: DataSource): Promise<void>;
  /** Absent where the vendor cannot tell. */
  freeBytes?(): Promise<number>;
  stop(): Promise<void>;
}

const POLICY_ID_BYTES = 32;

/** Undefined for what others have put beside the items. */
export function policyIdOf(name: string): Uint8Array | undefined {
  try {
    const bytes = base58.decode(name);
    return bytes.length === POLICY_ID_BYTES ? bytes : undefined;
  } catch {
    return undefined;
  }
}
