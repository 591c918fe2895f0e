/** The lists of addresses of a policy (transactions.md#proof-style). */

import { ADDRESS_BYTES } from '../../base/sizes.ts';
import type { Codec } from '../../codec/codec.ts';
import { list32 } from '../../codec/struct.ts';
import { mostItems } from '../size.ts';
import { address } from './shared.ts';

/** Recipients or owners in the given order; duplicates stay in the bytes. */
export const members: Codec<readonly Uint8Array[]> = {
  ...list32(address, mostItems(ADDRESS_BYTES)),
  itemBytesMin: ADDRESS_BYTES,
};
