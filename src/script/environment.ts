/** All that a script may ask about the world (docs/protocol/scripts.md#environment). */
import type { CaseObject, Value } from './values.ts';

export interface Hashes {
  readonly keccak256: (message: Uint8Array) => Uint8Array;
  readonly blake2b256: (message: Uint8Array) => Uint8Array;
  readonly sha256: (message: Uint8Array) => Uint8Array;
  /** The secure hash of the network. */
  readonly secureHash: (message: Uint8Array) => Uint8Array;
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
  /** The transaction or the order that the script judges. */
  readonly tx: () => CaseObject;
  readonly verify: (message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array) => boolean;
  readonly addressOfAlias: (alias: string) => Uint8Array | undefined;
  /** A data entry of an account; an unknown account has none. */
  readonly data: (address: Uint8Array, key: string) => Value | undefined;
  /** Undefined: the native token. */
  readonly balance: (address: Uint8Array, assetId: Uint8Array | undefined) => bigint;
  /** True for an address of this network. */
  readonly isAddress: (bytes: Uint8Array) => boolean;
  readonly transactionById: (id: Uint8Array) => CaseObject | undefined;
  readonly transactionHeight: (id: Uint8Array) => number | undefined;
}
