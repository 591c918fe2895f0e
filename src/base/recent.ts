/**
 * A bounded memory of what was added or used lately.
 *
 * Two generations instead of an exact order: a hit costs one lookup in a Map and nothing is moved.
 * A single Map would give up its oldest entry ever more slowly, because finding the first key means
 * walking past all that was deleted before it.
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
