/**
 * Limits the confidential data that this node accepts: a quota for each policy and for all
 * policies, and disk space that stays free. Otherwise any account that may name a node as recipient
 * could fill its disk, 20 MiB with every transaction.
 *
 * Invariant: room for the longest item is reserved before a transfer begins, so that parallel
 * transfers never exceed a quota. Rows of its own count the accepted bytes.
 */
import { base58 } from '../base/base58.ts';
import { latin1 } from '../base/bytes.ts';
import type { Log, Store } from '../base/ports.ts';
import { PRIVATE_DATA_BYTES_MAX, type PrivateStore, storageFailed } from '../base/private-store.ts';
import { StoredBytes } from './stored-bytes.ts';

export interface QuotaOptions {
  readonly policyBytesMax: number;
  readonly totalBytesMax: number;
  readonly freeBytesMin: number;
}

export type QuotaLimit = 'policy-quota' | 'quota' | 'free-space';

export interface QuotaPorts {
  readonly store: PrivateStore;
  /** The store of the node's own rows. */
  readonly rows: Pick<Store, 'get' | 'write'>;
  readonly log: Log;
  readonly onRefused: (limit: QuotaLimit) => void;
}

export interface Quota {
  /** The same store; a write above a limit rejects with PrivateStoreError of kind `storage`. */
  readonly store: PrivateStore;
  /** True while an item of the greatest length may be accepted for this policy. */
  has(policyId: Uint8Array): Promise<boolean>;
  /** Bytes accepted for all policies. */
  bytes(): number;
}

/** Policies whose refusal was logged; the oldest are dropped first. */
const WARNED_MAX = 1000;

export function createQuota(options: QuotaOptions, ports: QuotaPorts): Quota {
  const { store, log } = ports;
  const stored = new StoredBytes(ports);
  const warned = new Set<string>();

  /** `needed`: bytes in addition to the reserved ones. */
  async function limitOf(policyId: Uint8Array, needed: number): Promise<QuotaLimit | undefined> {
    const free = await store.freeBytes?.();
    if (free !== undefined && free - stored.reservedInAll - needed < options.freeBytesMin) {
      return 'free-space';
    }
    const inAll = stored.inAll() + stored.reservedInAll;
    if (inAll + needed > options.totalBytesMax) return 'quota';
    const isOver = stored.takenBy(policyId) + needed > options.policyBytesMax;
    return isOver ? 'policy-quota' : undefined;
  }

  /** Logged once for a policy, until there is room again. */
  async function refusedBy(policyId: Uint8Array, needed: number): Promise<QuotaLimit | undefined> {
    const limit = await limitOf(policyId, needed);
    const key = latin1(policyId);
    if (limit === undefined) {
      warned.delete(key);
      return undefined;
    }
    ports.onRefused(limit);
    if (!warned.has(key)) log.warn('privacy.no-room', { policy: base58.encode(policyId), limit });
    warned.add(key);
    if (warned.size > WARNED_MAX) warned.delete(warned.values().next().value ?? '');
    return limit;
  }

  return {
    has: async (policyId) => (await refusedBy(policyId, PRIVATE_DATA_BYTES_MAX)) === undefined,
    bytes: () => stored.inAll(),
    store: {
      ...store,
      async write(item, pieces) {
        stored.reserve(item.policyId, PRIVATE_DATA_BYTES_MAX);
        try {
          const limit = await refusedBy(item.policyId, 0);
          if (limit !== undefined) throw storageFailed(`no room: ${limit}`);
          const isNew = (await store.info(item.policyId, item.hash)) === undefined;
          let bytes = 0;
          await store.write(
            item,
            counted(pieces, (length) => (bytes += length)),
          );
          if (isNew) await stored.add(item.policyId, bytes);
        } finally {
          stored.reserve(item.policyId, -PRIVATE_DATA_BYTES_MAX);
        }
      },
    },
  };
}

async function* counted(
  pieces: AsyncIterable<Uint8Array>,
  add: (bytes: number) => void,
): AsyncIterable<Uint8Array> {
  for await (const piece of pieces) {
    add(piece.length);
    yield piece;
  }
}
