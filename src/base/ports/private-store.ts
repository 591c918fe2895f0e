/**
 * The port to the storage of confidential data (privacy.md#storage). Only the members of a policy
 * hold its items; the chain holds their hashes. `files-shelf.ts`, `postgres.ts` and `s3.ts` in
 * `adapters/private-store` implement it.
 */
import { base58 } from '../base58.ts';
import { type ApiError, apiError, Refusal } from '../errors.ts';

/** Bytes of one item (rest.md#limits-of-requests). */
export const PRIVATE_DATA_BYTES_MAX = 20 * 1024 * 1024;

/** What the members of a policy know about an item; texts are as the sender gave them. */
export interface PrivateItem {
  /** 32 bytes. */
  readonly policyId: Uint8Array;
  /** SHA-256 of the data, 32 bytes. */
  readonly hash: Uint8Array;
  /** Address. */
  readonly sender: Uint8Array;
  /** "file", unless the sender said otherwise. */
  readonly type: string;
  readonly filename: string;
  readonly size: string;
  readonly timestamp: bigint;
  readonly author: string;
  readonly comment: string;
}

export interface PrivateData {
  /** In bytes. */
  readonly length: number;
  /**
   * Verified bytes, in order, to be read once. A reader that never begins leaves nothing open.
   * Rejects with PrivateStoreError where the storage fails while reading.
   */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** Where data come from: whole from a client of this node, or in pieces from a peer. */
export type DataSource = 'client' | 'peer';

/** Every call rejects with PrivateStoreError of kind `storage` where the storage cannot serve. */
export interface PrivateStore {
  /** The item; undefined where it is not stored, or where its data are known to be damaged. */
  info(policyId: Uint8Array, hash: Uint8Array): Promise<PrivateItem | undefined>;
  /** Policies under which data of this hash are stored. */
  policiesOf(hash: Uint8Array): Promise<readonly Uint8Array[]>;
  /** The data; undefined where they are missing or damaged (the SHA-256 is compared first). */
  read(policyId: Uint8Array, hash: Uint8Array): Promise<PrivateData | undefined>;
  /**
   * Durable and verified when it resolves. When it rejects (with PrivateStoreError, or with an
   * error of `pieces`), nothing is half-stored. Storing an item again is allowed, and repairs a
   * damaged one. Data of clients do not wait behind those of peers (default).
   */
  write(item: PrivateItem, pieces: AsyncIterable<Uint8Array>, source?: DataSource): Promise<void>;
  /** Free bytes on the disk below; absent where a storage cannot tell. */
  freeBytes?(): Promise<number>;
  /** Calls in progress may still end; no new calls may begin. */
  stop(): Promise<void>;
}

/**
 * `hash`: the data do not match the item's hash; `length`: over the limit; `storage`: full, broken
 * or unreachable.
 */
export type PrivateStoreFault = 'hash' | 'length' | 'storage';

export class PrivateStoreError extends Error {
  override name = 'PrivateStoreError';
  readonly kind: PrivateStoreFault;
  /**
   * What a client sees. It contains no path, address or message of the storage; those belong in the
   * log.
   */
  readonly answer: ApiError;

  constructor(kind: PrivateStoreFault, answer: ApiError, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
    this.answer = answer;
  }

  /** What is wrong with the data; undefined where the storage itself failed. */
  get ofData(): Refusal | undefined {
    return this.answer instanceof Refusal ? this.answer : undefined;
  }
}

export function wrongHash(actual: Uint8Array, expected: Uint8Array): PrivateStoreError {
  const texts = `Actual '${base58.encode(actual)}', expected '${base58.encode(expected)}'`;
  const answer = apiError('Invalid', `Invalid data hash. ${texts}`);
  return new PrivateStoreError('hash', answer, answer.message);
}

/** `seen`: bytes counted so far. */
export function tooLong(seen: number): PrivateStoreError {
  const answer = apiError('PolicyDataTooBig', seen, PRIVATE_DATA_BYTES_MAX);
  return new PrivateStoreError('length', answer, answer.message);
}

/** `what` names the operation and the reason, for the log. */
export function storageFailed(what: string, cause?: unknown): PrivateStoreError {
  return new PrivateStoreError('storage', apiError('StorageFailed'), what, cause);
}
