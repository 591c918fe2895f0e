/**
 * Bounded memories of recently added or used entries.
 *
 * A cache keeps two generations instead of an exact order: a hit costs one lookup in a Map and moves
 * nothing. A single Map would take ever longer to drop its oldest entry, because finding the first
 * key means walking past all keys deleted before it.
 */
import type { Clock } from '../base/ports/clock.ts';

export class BoundedCache<Key, Value> {
  private readonly entries: number;
  private young = new Map<Key, Value>();
  private old = new Map<Key, Value>();

  /** Holds the last `entries`, and up to twice as many. */
  constructor(entries: number) {
    this.entries = entries;
  }

  get(key: Key): Value | undefined {
    const value = this.young.get(key);
    if (value !== undefined) return value;
    const older = this.old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  has(key: Key): boolean {
    return this.get(key) !== undefined;
  }

  set(key: Key, value: Value): void {
    if (this.young.size >= this.entries) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, value);
  }

  delete(key: Key): void {
    this.young.delete(key);
    this.old.delete(key);
  }

  clear(): void {
    this.young.clear();
    this.old.clear();
  }
}

/** Names, each of which is forgotten after its time. */
export class ExpiringSet {
  private readonly expiryMs: number;
  private readonly clock: Pick<Clock, 'monotonic'>;
  private readonly addedAt: BoundedCache<string, number>;

  /** Holds the last `entries`, and up to twice as many. */
  constructor(entries: number, expiryMs: number, clock: Pick<Clock, 'monotonic'>) {
    this.expiryMs = expiryMs;
    this.clock = clock;
    this.addedAt = new BoundedCache(entries);
  }

  add(name: string): void {
    // V8 keeps a small integer in the Map itself; a fraction is an object of its own.
    this.addedAt.set(name, Math.trunc(this.clock.monotonic()));
  }

  delete(name: string): void {
    this.addedAt.delete(name);
  }

  has(name: string): boolean {
    const at = this.addedAt.get(name);
    if (at === undefined) return false;
    if (this.clock.monotonic() - at <= this.expiryMs) return true;
    this.addedAt.delete(name);
    return false;
  }
}
