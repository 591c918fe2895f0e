/** All that a script may ask about the world (docs/protocol/scripts.md#environment). */
import type { CryptoCharges } from '../../base/charge.ts';
import type { CaseObject, Value } from '../language/values.ts';

export interface Hashes {
  readonly keccak256: (message: Uint8Array) => Uint8Array;
  readonly blake2b256: (message: Uint8Array) => Uint8Array;
  readonly sha256: (message: Uint8Array) => Uint8Array;
  /** The secure hash of the network. */
  readonly secureHash: (message: Uint8Array) => Uint8Array;
  /** What the cryptography of the network charges. */
  readonly charges: CryptoCharges;
}

/** A transaction of this chain, not read yet. */
export interface Found {
  /** Bytes of the transaction. */
  readonly size: number;
  readonly read: () => FoundTransaction;
}

export interface FoundTransaction {
  /** Elements of all its lists, those of a transaction inside it too. */
  readonly elements: number;
  /** How many of them are an address or hold one. */
  readonly addresses: number;
  /** Undefined where the id is not the one that was asked for. */
  readonly height: number | undefined;
  /** Undefined in that case too, and for a type without a record. */
  readonly record: () => CaseObject | undefined;
}

/**
 * One state and one transaction. A run asks a method only when it needs the answer, and every
 * answer is the same on all nodes.
 */
export interface Environment {
  readonly chainId: number;
  readonly hashes: Hashes;
  /** Height of the last block of the state. */
  readonly height: () => bigint;
  /** The transaction or the order that the script judges; a run asks once. */
  readonly tx: () => CaseObject;
  readonly verify: (message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array) => boolean;
  /** Any text may be asked for. */
  readonly addressOfAlias: (alias: string) => Uint8Array | undefined;
  /** A data entry of an account, for any key; an unknown account has none. */
  readonly data: (address: Uint8Array, key: string) => Value | undefined;
  /** Undefined: the native token. */
  readonly balance: (address: Uint8Array, assetId: Uint8Array | undefined) => bigint;
  /** True for an address of this network. */
  readonly isAddress: (bytes: Uint8Array) => boolean;
  /**
   * The one transaction of this chain whose id begins with the first 16 bytes of this id. All of it
   * must be read to know the rest of its id. Undefined for an id of another length than ids have.
   */
  readonly lookUp: (id: Uint8Array) => Found | undefined;
}
