/** One change of one key in one table; `value` absent means removal. */
export interface StoreWrite {
  readonly table: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

/** A consistent view of all tables. Byte results are copies that the caller may keep. */
export interface StoreView {
  /**
   * The bytes do not change, but may share memory with those of other rows: who keeps them for long
   * copies them.
   */
  get(table: number, key: Uint8Array): Uint8Array | undefined;
  /**
   * Entries with `from` ≤ key < `to` in key order (or the same entries backwards), at most `limit`.
   * Both bounds are mandatory, so that no code walks a whole table by accident.
   */
  range(
    table: number,
    from: Uint8Array,
    to: Uint8Array,
    limit: number,
    reverse?: boolean,
  ): Iterable<readonly [Uint8Array, Uint8Array]>;
}

/** The ordered key-value store below the ledger. Table numbers are those of ledger/tables.ts. */
export interface Store extends StoreView {
  /**
   * Applies all writes in one durable transaction, or none of them. Writes apply in the order of
   * the calls. Until the promise resolves, views show the state before it. `landed` runs in the
   * same step in which views begin to show the new state. The bytes of the rows must not change
   * until then.
   */
  write(writes: Iterable<StoreWrite>, landed?: () => void): Promise<void>;
  /** A frozen view. The caller must release it within seconds, since it keeps old pages alive. */
  snapshot(): StoreView & { release(): void };
  /** Bytes on disk, 0 for a store in memory. */
  size(): number;
  /**
   * Why the store cannot be trusted, after damage or a failed write; absent where the store cannot
   * tell.
   */
  problem?(): string | undefined;
  close(): Promise<void>;
}
