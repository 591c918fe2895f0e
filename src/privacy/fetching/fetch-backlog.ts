/**
 * The items that are still to be fetched, on disk: one row for each item, pending or lost, and the
 * block up to which the chain was followed.
 *
 * Changes are written together, a moment after they are made. After a crash, the lost changes are
 * found again by following the chain from the block that was written with the last ones.
 */

import { isOurs } from '../../base/assert.ts';
import { concat, fromLatin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Store, StoreWrite } from '../../base/ports/store.ts';
import { Mutex } from '../../concurrency/mutex.ts';
import { END_OF_TABLE, u32Key } from '../../ledger/key-codecs.ts';
import { meta, privateLost, privatePending } from '../../ledger/tables.ts';
import { type ItemId, itemKey, itemOfBytes } from '../protocol/item-id.ts';

export type State = 'pending' | 'lost';

/** A block; all transactions up to it have been read. */
export interface Place {
  readonly height: number;
  readonly id: Uint8Array;
}

const FLUSH_MS = 2_000;
const TABLES: Readonly<Record<State, number>> = {
  pending: privatePending.id,
  lost: privateLost.id,
};
const STATES = Object.keys(TABLES) as State[];
export const FIRST_ROW = new Uint8Array(64);
const NO_VALUE = new Uint8Array(0);
const FOLLOWED = new TextEncoder().encode('privacy');

export interface BacklogDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

export class Backlog {
  private readonly deps: BacklogDeps;
  private changes = new Map<string, State | undefined>();
  private place: Place | undefined;
  private cancelFlush: (() => void) | undefined;
  private readonly writing = new Mutex();
  private stopped = false;

  constructor(deps: BacklogDeps) {
    this.deps = deps;
  }

  /** Undefined: nothing remains to be done for the item. */
  set(item: ItemId, state: State | undefined): void {
    this.changes.set(itemKey(item), state);
    this.flushSoon();
  }

  /** The rows as written, from this key on, in order. */
  list(state: State, from: Uint8Array, limit: number): ItemId[] {
    const rows = this.deps.store.range(TABLES[state], from, END_OF_TABLE, limit);
    return Array.from(rows, ([key]) => itemOfBytes(key));
  }

  /** Undefined: nothing remains to be done for the item. */
  stateOf(item: ItemId): State | undefined {
    const key = itemKey(item);
    if (this.changes.has(key)) return this.changes.get(key);
    const row = fromLatin1(key);
    return STATES.find((state) => this.deps.store.get(TABLES[state], row) !== undefined);
  }

  followed(): Place | undefined {
    const row = this.deps.store.get(meta.id, FOLLOWED);
    return row && { height: u32Key.decode(row.subarray(0, 4)), id: row.subarray(4) };
  }

  follow(place: Place): void {
    this.place = place;
    this.flushSoon();
  }

  /**
   * Resolves when everything is on disk, or when the disk has refused it; the write is then tried
   * again.
   */
  flush(): Promise<void> {
    this.cancelFlush?.();
    this.cancelFlush = undefined;
    return this.writing.run(() => this.write());
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.flush();
  }

  private flushSoon(): void {
    if (this.stopped) return;
    this.cancelFlush ??= this.deps.clock.after(FLUSH_MS, () => void this.flush());
  }

  private async write(): Promise<void> {
    const { changes, place } = this;
    if (changes.size === 0 && place === undefined) return;
    this.changes = new Map();
    this.place = undefined;
    try {
      await this.deps.store.write(writes(changes, place));
    } catch (cause) {
      if (isOurs(cause)) throw cause;
      this.deps.log.error('privacy.backlog-failed', { why: String(cause) });
      this.changes = new Map([...changes, ...this.changes]);
      this.place ??= place;
      this.flushSoon();
    }
  }
}

function* writes(
  changes: ReadonlyMap<string, State | undefined>,
  place: Place | undefined,
): Generator<StoreWrite> {
  for (const [key, state] of changes) {
    for (const [name, table] of Object.entries(TABLES)) {
      yield { table, key: fromLatin1(key), value: name === state ? NO_VALUE : undefined };
    }
  }
  if (place !== undefined) {
    yield { table: meta.id, key: FOLLOWED, value: concat(u32Key.encode(place.height), place.id) };
  }
}
