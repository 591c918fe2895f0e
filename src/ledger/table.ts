/**
 * A table is a typed key space. Its declaration says how keys become ordered bytes, how values
 * become bytes, and whether the content belongs to the replicated state.
 */
import type { Codec } from '../codec/codec.ts';

/** Order-preserving: a < b as keys if and only if bytes(a) < bytes(b). */
export interface KeyCodec<K> {
  encode(key: K): Uint8Array;
  decode(bytes: Uint8Array): K;
}

export interface Table<K, V> {
  /** Written in undo records and on disk; never reused, never renumbered. */
  readonly id: number;
  readonly name: string;
  /** One sentence: the content of a row. */
  readonly doc: string;
  readonly key: KeyCodec<K>;
  readonly value: Codec<V>;
  /**
   * `state`: part of the state hash, reversed by undo records.
   * `index`: derived from blocks, reversed by undo records, outside the state hash.
   * `local`: this node's own, neither hashed nor undone.
   */
  readonly kind: 'state' | 'index' | 'local';
  /** The number of committed values that stay decoded in memory, for frequently read tables. */
  readonly cached: number;
}

/**
 * Code for tables of any key and value type uses this form. Each codec receives only keys and
 * values of its own table.
 */
export const untyped = (table: Table<never, never>): Table<unknown, unknown> =>
  table as unknown as Table<unknown, unknown>;
