/**
 * A PrivateStore on a vendor's shelf. It does for all vendors what does not depend on them. It
 * checks hash and size of data when they are stored and when they are read. It treats damaged data
 * as absent. It turns every failure of a storage into one kind of error, and writes the reason to
 * the log only.
 */
import { createHash } from 'node:crypto';
import { base58 } from '../../base/base58.ts';
import { equal, latin1 } from '../../base/bytes.ts';
import type { Log } from '../../base/ports/log.ts';
import {
  PRIVATE_DATA_BYTES_MAX,
  type PrivateItem,
  type PrivateStore,
  PrivateStoreError,
  storageFailed,
  tooLong,
  wrongHash,
} from '../../base/ports/private-store.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import { DamagedRecord } from './record.ts';
import type { Shelf } from './shelf.ts';

/**
 * Damaged items that are remembered. The oldest above this number are forgotten, and detected again
 * when read.
 */
const DAMAGED_MAX = 10_000;

export function verifiedStore(shelf: Shelf, log: Log): PrivateStore {
  const watch = new ShelfWatch(log);
  return {
    async info(policyId, hash) {
      if (watch.isDamaged(policyId, hash)) return undefined;
      try {
        return itself(await watch.asked('info', shelf.info(policyId, hash)), policyId, hash);
      } catch (cause) {
        if (!(cause instanceof DamagedRecord)) throw cause;
        watch.markDamaged(policyId, hash, cause.message);
        return undefined;
      }
    },

    async policiesOf(hash) {
      const all = await watch.asked('policiesOf', shelf.policiesOf(hash));
      return all.filter((policyId) => !watch.isDamaged(policyId, hash));
    },

    async read(policyId, hash) {
      const open = await watch.asked('read', shelf.open(policyId, hash));
      if (open === undefined) return undefined;
      const pieces = () => verified(watch.tellingFailures(open()), hash);
      let length = 0;
      try {
        for await (const piece of pieces()) length += piece.length;
      } catch (cause) {
        const isDamage = cause instanceof DamagedRecord || isWrongContent(cause);
        if (!isDamage) throw cause;
        watch.markDamaged(policyId, hash, cause.message);
        return undefined;
      }
      watch.markSound(policyId, hash);
      return { length, pieces: pieces() };
    },

    async write(item, pieces, from) {
      const source = new Source(pieces);
      try {
        await shelf.put(item, verified(source, item.hash), from);
      } catch (cause) {
        throw cause === source.failure ? cause : watch.storageFailure('write', cause);
      }
      watch.markSound(item.policyId, item.hash);
    },

    ...(shelf.freeBytes && { freeBytes: () => watch.asked('freeBytes', shelf.freeBytes!()) }),
    stop: () => shelf.stop(),
  };
}

const keyOf = (policyId: Uint8Array, hash: Uint8Array): string => latin1(policyId) + latin1(hash);

/** What went wrong with a shelf: it is logged, and damaged items are remembered. */
class ShelfWatch {
  private readonly log: Log;
  private readonly damaged = new BoundedCache<string, true>(DAMAGED_MAX);

  constructor(log: Log) {
    this.log = log;
  }

  isDamaged(policyId: Uint8Array, hash: Uint8Array): boolean {
    return this.damaged.has(keyOf(policyId, hash));
  }

  markDamaged(policyId: Uint8Array, hash: Uint8Array, why: string): void {
    const [policy, item] = [base58.encode(policyId), base58.encode(hash)];
    this.log.error('privacy.damaged', { policy, hash: item, why });
    this.damaged.set(keyOf(policyId, hash), true);
  }

  markSound(policyId: Uint8Array, hash: Uint8Array): void {
    this.damaged.delete(keyOf(policyId, hash));
  }

  /** A failure of the storage is logged and thrown as PrivateStoreError. */
  async asked<T>(call: string, result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (cause) {
      throw this.storageFailure(call, cause);
    }
  }

  async *tellingFailures(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    try {
      yield* pieces;
    } catch (cause) {
      throw this.storageFailure('read', cause);
    }
  }

  storageFailure(call: string, cause: unknown): unknown {
    if (cause instanceof PrivateStoreError || cause instanceof DamagedRecord) return cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    this.log.error('privacy.storage-failed', { call, why });
    return storageFailed(`${call}: ${why}`, cause);
  }
}

/** The caller's pieces, with a record of their failure, which is not a failure of the storage. */
class Source implements AsyncIterable<Uint8Array> {
  failure: unknown;
  readonly #pieces: AsyncIterable<Uint8Array>;

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    try {
      yield* this.#pieces;
    } catch (cause) {
      this.failure = cause;
      throw cause;
    }
  }
}

/** The same pieces; throws PrivateStoreError after the last where they do not match `hash`. */
async function* verified(
  pieces: AsyncIterable<Uint8Array>,
  hash: Uint8Array,
): AsyncIterable<Uint8Array> {
  const digest = createHash('sha256');
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > PRIVATE_DATA_BYTES_MAX) throw tooLong(length);
    digest.update(piece);
    yield piece;
  }
  const actual = digest.digest();
  if (!equal(actual, hash)) throw wrongHash(actual, hash);
}

const isWrongContent = (cause: unknown): cause is PrivateStoreError =>
  cause instanceof PrivateStoreError && cause.kind !== 'storage';

/** An item of another policy or hash is in the wrong place. Throws DamagedRecord. */
function itself(
  item: PrivateItem | undefined,
  policyId: Uint8Array,
  hash: Uint8Array,
): PrivateItem | undefined {
  if (item !== undefined && !(equal(item.policyId, policyId) && equal(item.hash, hash))) {
    throw new DamagedRecord('this is the item of other data');
  }
  return item;
}
