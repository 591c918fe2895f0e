/**
 * A table is a typed key space: how a key becomes ordered bytes, how a value becomes bytes, and
 * whether its content belongs to the replicated state.
 */
import type { Codec } from '../codec/codec.ts';

/** Order-preserving: a < b as keys if and only if bytes(a) < bytes(b). */
export interface KeyCodec<K> {
  encode(key: K): Uint8Array;
  decode(bytes: Uint8Array): K;
}

export interface Table<K, V> {
  /** Stands in undo records and on disk: never reused, never renumbered. */
  readonly id: number;
  readonly name: string;
  /** One sentence: what a row says and who reads it. */
  readonly doc: string;
  readonly key: KeyCodec<K>;
  readonly value: Codec<V>;
  /**
   * `state`: part of the state hash, reversed by undo records.
   * `index`: derived from blocks, reversed by undo records, outside the state hash.
   * `local`: this node's own, neither hashed nor undone.
   */
  readonly kind: 'state' | 'index' | 'local';
  /** Committed values of hot tables are kept decoded in memory, up to this many. */
  readonly cached: number;
}

/**
 * Where tables of any key and value pass through; each codec meets only keys and values of its own
 * table there.
 */
export const untyped = (table: Table<never, never>): Table<unknown, unknown> =>
  table as unknown as Table<unknown, unknown>;
