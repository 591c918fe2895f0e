/**
 * The items that are still to be fetched, on disk: one row for each item, pending or lost, and the
 * block up to which the chain was followed.
 *
 * Changes are written together, a moment after they are made. After a crash, the lost changes are
 * found again by following the chain from the block that was written with the last ones.
 */
import { concat, fromLatin1 } from '../base/bytes.ts';
import type { Clock, Log, Store, StoreWrite } from '../base/ports.ts';
import { Mutex } from '../concurrency/mutex.ts';
import { u32Key } from '../ledger/key-codecs.ts';
import { meta, privateLost, privatePending } from '../ledger/tables.ts';
import { type ItemId, itemKey, itemOfBytes } from './item-id.ts';

export type State = 'pending' | 'lost';

/** A block; all transactions up to it have been read. */
export interface Place {
  readonly height: number;
  readonly id: Uint8Array;
}

export interface Backlog {
  /** Undefined: nothing remains to be done for the item. */
  set(item: ItemId, state: State | undefined): void;
  /** The rows as written, from this key on, in order. */
  list(state: State, from: Uint8Array, limit: number): ItemId[];
  followed(): Place | undefined;
  follow(place: Place): void;
  /**
   * Resolves when everything is on disk, or when the disk has refused it; the write is then tried
   * again.
   */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

const FLUSH_MS = 2_000;
const TABLES: Readonly<Record<State, number>> = {
  pending: privatePending.id,
  lost: privateLost.id,
};
export const FIRST_ROW = new Uint8Array(64);
const END_OF_ROWS = new Uint8Array(65).fill(0xff);
const NO_VALUE = new Uint8Array(0);
const FOLLOWED = new TextEncoder().encode('privacy');

export function createBacklog(ports: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}): Backlog {
  const { store, clock, log } = ports;
  let changes = new Map<string, State | undefined>();
  let place: Place | undefined;
  let cancelFlush: (() => void) | undefined;
  const writing = new Mutex();
  let stopped = false;

  function* writes(
    of: ReadonlyMap<string, State | undefined>,
    upTo: Place | undefined,
  ): Generator<StoreWrite> {
    for (const [key, state] of of) {
      for (const [name, table] of Object.entries(TABLES)) {
        yield { table, key: fromLatin1(key), value: name === state ? NO_VALUE : undefined };
      }
    }
    if (upTo !== undefined) {
      yield { table: meta.id, key: FOLLOWED, value: concat(u32Key.encode(upTo.height), upTo.id) };
    }
  }

  function flush(): Promise<void> {
    cancelFlush?.();
    cancelFlush = undefined;
    return writing.run(write);
  }

  async function write(): Promise<void> {
    const [these, upTo] = [changes, place];
    if (these.size === 0 && upTo === undefined) return;
    changes = new Map();
    place = undefined;
    try {
      await store.write(writes(these, upTo));
    } catch (cause) {
      log.error('privacy.backlog-failed', { why: String(cause) });
      changes = new Map([...these, ...changes]);
      place ??= upTo;
      soon();
    }
  }

  function soon(): void {
    if (!stopped) cancelFlush ??= clock.after(FLUSH_MS, () => void flush());
  }

  return {
    set(item, state) {
      changes.set(itemKey(item), state);
      soon();
    },
    list: (state, from, limit) =>
      Array.from(store.range(TABLES[state], from, END_OF_ROWS, limit), ([key]) => itemOfBytes(key)),
    followed() {
      const row = store.get(meta.id, FOLLOWED);
      return row && { height: u32Key.decode(row.subarray(0, 4)), id: row.subarray(4) };
    },
    follow(next) {
      place = next;
      soon();
    },
    flush,
    async stop() {
      stopped = true;
      await flush();
    },
  };
}
