/**
 * Entries that a reorganisation has put in doubt: transactions of blocks that were taken back, and
 * entries that were accepted on top of such blocks and may build on them.
 *
 * Invariants: returned transactions keep the order of the chain that they were in, ahead of all
 * others; an entry in doubt is judged together with those before it, on one overlay of the head; it
 * leaves only after several heads have refused it. The work for each head is bounded.
 */
import type { ApiError } from '../base/errors.ts';
import type { Clock } from '../base/ports.ts';
import { createTurns } from '../base/turns.ts';
import { refusalFrom } from '../codec/refusal.ts';
import type { PoolEntry } from './entry.ts';
import type { Spending } from './spending.ts';

/** Transactions that are tried one after the other on one state: that of the head. */
export interface Together {
  /** False as soon as the head has moved: what is tried then says nothing. */
  isCurrent(): boolean;
  /** Throws ApiError. */
  tryApply(entry: PoolEntry): Spending;
}

export interface UnsettledPorts {
  readonly clock: Clock;
  together(): Together;
  /** True where the entry is valid without the others. */
  isSound(entry: PoolEntry): boolean;
  /** Called once for an entry that came back, as soon as it is valid alone. */
  announce(entry: PoolEntry): void;
  spends(entry: PoolEntry, spending: Spending): void;
  drop(entry: PoolEntry, error: ApiError): void;
}

export interface Unsettled {
  readonly size: number;
  has(entry: PoolEntry): boolean;
  /** In the order in which they are valid. */
  entries(): Iterable<PoolEntry>;
  /** These come before all others, in their order. */
  putFirst(returned: readonly PoolEntry[]): void;
  putLast(entry: PoolEntry): void;
  /** Whatever these were accepted on may be gone. */
  shake(entries: Iterable<PoolEntry>): void;
  /** True where the refusal of an entry is not final: it is judged with the others. */
  retain(entry: PoolEntry): boolean;
  /** The entry has left the pool. */
  forget(entry: PoolEntry): void;
  /** Judges on the present head; to be called for each head. Resolves when that is done. */
  settle(): Promise<void>;
}

/** Entries judged on one head; with these out of the way the next ones have their turn. */
const JUDGED_MAX = 2_000;
/** Heads that refuse an entry before it leaves: fees that were taken back may be earned again. */
const REFUSALS_MAX = 5;

export function createUnsettled(ports: UnsettledPorts): Unsettled {
  const { clock } = ports;
  let waiting = new Set<PoolEntry>();
  /** Entries in doubt that have not been refused yet. */
  const shaken = new Set<PoolEntry>();
  const refusals = new WeakMap<PoolEntry, number>();
  let running: Promise<void> | undefined;
  let isDue = false;

  async function judgeAll(): Promise<void> {
    while (isDue) {
      isDue = false;
      await judge(ports.together());
    }
  }

  async function judge(together: Together): Promise<void> {
    const turns = createTurns(clock);
    const early: PoolEntry[] = [];
    for (const entry of [...waiting].slice(0, JUDGED_MAX)) {
      if (turns.due()) await turns.take();
      if (!together.isCurrent()) return;
      if (tryOne(entry, together) !== undefined) early.push(entry);
    }
    // What the journal held at a crash may be in another order than it was in the chain.
    for (const entry of early) {
      if (turns.due()) await turns.take();
      if (!together.isCurrent()) return;
      const error = tryOne(entry, together);
      if (error !== undefined) refuse(entry, error);
      else if (waiting.delete(entry)) waiting.add(entry);
    }
  }

  function tryOne(entry: PoolEntry, together: Together): ApiError | undefined {
    if (entry.removed || !waiting.has(entry)) return undefined;
    try {
      ports.spends(entry, together.tryApply(entry));
    } catch (error) {
      return refusalFrom(error);
    }
    refusals.delete(entry);
    if (!entry.announced && ports.isSound(entry)) ports.announce(entry);
    return undefined;
  }

  function refuse(entry: PoolEntry, error: ApiError): void {
    if (entry.removed) return;
    const count = 1 + (refusals.get(entry) ?? 0);
    refusals.set(entry, count);
    if (count >= REFUSALS_MAX) ports.drop(entry, error);
  }

  return {
    get size() {
      return waiting.size;
    },
    has: (entry) => waiting.has(entry),
    entries: () => waiting,
    putFirst(returned) {
      waiting = new Set([...returned, ...waiting]);
      for (const entry of returned) shaken.delete(entry);
    },
    putLast(entry) {
      shaken.delete(entry);
      waiting.add(entry);
    },
    shake(entries) {
      for (const entry of entries) if (!waiting.has(entry)) shaken.add(entry);
    },
    retain(entry) {
      if (shaken.delete(entry)) waiting.add(entry);
      return waiting.has(entry);
    },
    forget(entry) {
      waiting.delete(entry);
      shaken.delete(entry);
    },
    settle() {
      isDue = waiting.size > 0;
      running ??= judgeAll().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}
