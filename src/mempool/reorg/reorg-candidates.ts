/**
 * Entries that a reorganisation has put in doubt: transactions of rolled-back blocks, and entries
 * that were accepted on top of such blocks and may build on them.
 *
 * Invariant: returned transactions keep the order of the chain that they were in, ahead of all
 * others.
 */
import type { PoolEntry } from '../entries/entry.ts';

export class ReorgCandidates {
  private waiting = new Set<PoolEntry>();
  /** The entries in doubt that have not been refused yet. */
  private readonly suspects = new Set<PoolEntry>();

  get size(): number {
    return this.waiting.size;
  }

  has(entry: PoolEntry): boolean {
    return this.waiting.has(entry);
  }

  /** In an order in which they are valid. */
  entries(): Iterable<PoolEntry> {
    return this.waiting;
  }

  /** The ids of all of them as Latin-1 texts, in this order. */
  order(): string[] {
    return Array.from(this.waiting, ({ key }) => key);
  }

  /** These come before all others, in their order. */
  putFirst(returned: readonly PoolEntry[]): void {
    this.waiting = new Set([...returned, ...this.waiting]);
    for (const entry of returned) this.suspects.delete(entry);
  }

  putLast(entry: PoolEntry): void {
    this.suspects.delete(entry);
    this.waiting.add(entry);
  }

  /** Moves an entry that is valid only after the others. */
  moveLast(entry: PoolEntry): void {
    if (this.waiting.delete(entry)) this.waiting.add(entry);
  }

  /** The blocks on which these entries were accepted may be gone. */
  markSuspect(entries: Iterable<PoolEntry>): void {
    for (const entry of entries) if (!this.waiting.has(entry)) this.suspects.add(entry);
  }

  /** True where the refusal of an entry is not final, because it is judged with the others. */
  retain(entry: PoolEntry): boolean {
    if (this.suspects.delete(entry)) this.waiting.add(entry);
    return this.waiting.has(entry);
  }

  /** The entry has left the pool. */
  forget(entry: PoolEntry): void {
    this.waiting.delete(entry);
    this.suspects.delete(entry);
  }
}
