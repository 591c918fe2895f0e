/**
 * Pool entries by the hash of their full bytes. Peers name transactions by this hash, since a
 * transaction id does not cover the proofs (blocks.md#compact-blocks, H-18: proofs are not part of
 * the id). Entries that were recently mined are found too, for peers that are a block behind and
 * for blocks of another branch.
 */
import { latin1 } from '../../base/bytes.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import type { Pool } from '../pool.ts';
import type { PoolEntry } from './entry.ts';

/**
 * The number of entries that have left the pool and can still be served: more than a block of 1 MiB
 * holds.
 */
const LEFT_MAX = 7_000;

export interface BytesIndex {
  /** By the hash as Latin-1 text. */
  get(hash: string): PoolEntry | undefined;
  /** True while the entry waits in the pool. */
  waits(hash: string): boolean;
  /** True also for what the journal held and the pool is still judging. */
  isKnown(hash: string): boolean;
  /** The hashes of all waiting entries. */
  hashes(): Iterable<string>;
  hashOf(entry: PoolEntry): string;
  stop(): void;
}

export function createBytesIndex(
  pool: Pool,
  fastHash: (bytes: Uint8Array) => Uint8Array,
): BytesIndex {
  const waiting = new Map<string, PoolEntry>();
  const left = new BoundedCache<string, PoolEntry>(LEFT_MAX);
  /** Several parts of the node ask for the hash of an entry. */
  const hashOf = (entry: PoolEntry): string => {
    entry.bytesHash ??= latin1(fastHash(entry.bytes));
    return entry.bytesHash;
  };
  const add = (entry: PoolEntry): void => {
    waiting.set(hashOf(entry), entry);
  };
  for (const entry of pool.inOrder()) add(entry);
  const stop = pool.listen({
    added: add,
    removed(entry) {
      const hash = hashOf(entry);
      if (waiting.delete(hash)) left.set(hash, entry);
    },
  });
  return {
    get: (hash) => waiting.get(hash) ?? left.get(hash),
    waits: (hash) => waiting.has(hash),
    isKnown: (hash) => waiting.has(hash) || pool.recovers(hash),
    hashes: () => waiting.keys(),
    hashOf,
    stop,
  };
}
