/**
 * A bounded memory of recent results.
 *
 * Two generations instead of an exact order of use: a hit costs one lookup in a Map and nothing is
 * moved. Whatever was used during the last `entries` additions is still known.
 */
export class Recent<Key, Value> {
  private readonly entries: number;
  private young = new Map<Key, Value>();
  private old = new Map<Key, Value>();

  /** Holds up to twice `entries`. */
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
}
