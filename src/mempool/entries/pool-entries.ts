/**
 * The entries of the pool: by id, by the ids of their members, in the order of blocks, by sender. Listeners are called for each
 * entry that was accepted and for each that has left.
 *
 * Invariants: all indexes hold the same entries; `removed` is true for an entry that has left.
 */
import { tellAll } from '../../base/listeners.ts';
import type { Log } from '../../base/ports/log.ts';
import type { PoolEntry } from './entry.ts';
import type { Senders } from './senders.ts';
import type { Spending } from './spending.ts';
import { TimeOrder } from './time-order.ts';

export interface PoolListener {
  /** The entry passed all checks and is on disk. */
  added?(entry: PoolEntry): void;
  removed?(entry: PoolEntry): void;
}

export class Entries {
  private readonly byId = new Map<string, PoolEntry>();
  /** A reorganisation may bring back several with one member. */
  private readonly byMember = new Map<string, Set<PoolEntry>>();
  private readonly order = new TimeOrder<PoolEntry>();
  private readonly senders: Senders;
  private readonly listeners = new Set<PoolListener>();
  private readonly log: Log;

  constructor(senders: Senders, log: Log) {
    this.senders = senders;
    this.log = log;
  }

  get size(): number {
    return this.byId.size;
  }

  get bytes(): number {
    return this.senders.bytes;
  }

  /** `key` is the id as Latin-1 text. */
  get(key: string): PoolEntry | undefined {
    return this.byId.get(key);
  }

  /**
   * An entry with this transaction: itself, or a member of it. Only one of them could ever enter a
   * block, while the funds for all of them would be reserved.
   */
  with(key: string): PoolEntry | undefined {
    const [first] = this.byMember.get(key) ?? NONE;
    return this.byId.get(key) ?? first;
  }

  /** All entries in the order in which they were added. */
  all(): Iterable<PoolEntry> {
    return this.byId.values();
  }

  /** All entries in the order of blocks. The array is valid until the next change. */
  inOrder(): readonly PoolEntry[] {
    return this.order.inOrder();
  }

  put(entry: PoolEntry): void {
    this.byId.set(entry.key, entry);
    for (const member of entry.members ?? NO_MEMBERS) {
      const holders = this.byMember.get(member) ?? new Set();
      this.byMember.set(member, holders.add(entry));
    }
    this.order.add(entry);
    this.senders.add(entry);
  }

  announce(entry: PoolEntry): void {
    // A reorganisation may have it announced while it is on its way to the disk.
    if (entry.announced) return;
    entry.announced = true;
    tellAll(this.listeners, this.log, (listener) => listener.added?.(entry));
  }

  /** Changes what the entry takes from its sender and from others. */
  respend(entry: PoolEntry, spending: Spending): void {
    this.senders.remove(entry);
    entry.native = spending.native;
    entry.assets = spending.assets;
    for (const whose of ['others', 'sponsors'] as const) {
      // An entry that never had it stays as small as it is.
      if (entry[whose] !== spending[whose]) entry[whose] = spending[whose];
    }
    this.senders.add(entry);
  }

  remove(entry: PoolEntry): void {
    // Another entry of the same transaction may have come since.
    if (this.byId.get(entry.key) !== entry) return;
    this.byId.delete(entry.key);
    for (const member of entry.members ?? NO_MEMBERS) {
      const holders = this.byMember.get(member);
      holders?.delete(entry);
      if (holders?.size === 0) this.byMember.delete(member);
    }
    this.order.remove(entry);
    this.senders.remove(entry);
    tellAll(this.listeners, this.log, (listener) => listener.removed?.(entry));
  }

  listen(listener: PoolListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

const NONE: Iterable<PoolEntry> = [];
const NO_MEMBERS: readonly string[] = [];
