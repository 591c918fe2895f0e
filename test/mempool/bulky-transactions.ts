/** Transactions of about 140 KB, for tests about many bytes. */
import type { Tx } from '../../src/tx/transaction.ts';
import { data } from '../../src/tx/types/012-data.ts';
import { type Account, signed } from '../chain/chain-harness.ts';

const VALUES = 5;
const VALUE_BYTES = 28_000;
let distinct = 0;

export function bulky(from: Account, timestamp: number): Tx {
  distinct++;
  const entries = Array.from({ length: VALUES }, (_, i) => ({
    key: `key ${i}`,
    type: 'binary' as const,
    value: new Uint8Array(VALUE_BYTES).fill(distinct),
  }));
  const input = {
    authorPublicKey: from.publicKey,
    data: entries,
    timestamp: timestamp + distinct,
    // For each KiB.
    fee: 200_000_000n,
  };
  return signed(data, from, input, 1);
}
