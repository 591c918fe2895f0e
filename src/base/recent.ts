/**
 * A bounded memory of recently added or used entries.
 *
 * It keeps two generations instead of an exact order: a hit costs one lookup in a Map and moves
 * nothing. A single Map would take ever longer to drop its oldest entry, because finding the first
 * key means walking past all keys deleted before it.
 */
export class Recent<Key, Value> {
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
}
