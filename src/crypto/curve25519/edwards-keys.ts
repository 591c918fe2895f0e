/**
 * A bounded cache of converted public keys: X25519 u → Edwards y without its sign bit, so that one
 * entry serves signatures of either sign.
 *
 * It is a set-associative table in three flat arrays. It needs no object per key and no garbage
 * collection, and maliciously chosen keys can only evict one another.
 */

const KEY_SIZE = 32;
const WAYS = 8;

export class EdwardsKeys {
  private readonly setMask: number;
  private readonly keys: Uint8Array;
  private readonly values: Uint8Array;
  /** The time of each entry's last use; 0 marks an empty entry. */
  private readonly usedAt: Uint32Array;
  private readonly counts: Uint8Array;
  private now = 0;

  /** `entries` is rounded up to a power of two, at least 8; each takes 69 bytes. */
  constructor(entries: number) {
    const sets = 2 ** Math.max(0, Math.ceil(Math.log2(entries / WAYS)));
    this.setMask = sets - 1;
    this.keys = new Uint8Array(sets * WAYS * KEY_SIZE);
    this.values = new Uint8Array(sets * WAYS * KEY_SIZE);
    this.usedAt = new Uint32Array(sets * WAYS);
    this.counts = new Uint8Array(sets * WAYS);
  }

  has(key: Uint8Array): boolean {
    return this.find(key) >= 0;
  }

  /** Copies the Edwards y of a key into `target`; false if it is not known. */
  copy(key: Uint8Array, target: Uint8Array): boolean {
    const entry = this.find(key);
    if (entry < 0) return false;
    const { values } = this;
    const start = entry * KEY_SIZE;
    for (let i = 0; i < KEY_SIZE; i++) target[i] = values[start + i]!;
    this.usedAt[entry] = this.tick();
    return true;
  }

  /** Replaces the least recently used entry of its set. */
  add(key: Uint8Array, value: Uint8Array): void {
    const first = this.setOf(key);
    let oldest = first;
    for (let entry = first; entry < first + WAYS; entry++) {
      if (this.usedAt[entry]! < this.usedAt[oldest]!) oldest = entry;
    }
    this.keys.set(key, oldest * KEY_SIZE);
    this.values.set(value, oldest * KEY_SIZE);
    this.usedAt[oldest] = this.tick();
    this.counts[oldest] = 0;
  }

  /** How often it has been called for a key since it is known, this time included; 255 at most. */
  count(key: Uint8Array): number {
    const entry = this.find(key);
    if (entry < 0) return 0;
    if (this.counts[entry]! < 0xff) this.counts[entry]! += 1;
    return this.counts[entry]!;
  }

  private find(key: Uint8Array): number {
    const { keys, usedAt } = this;
    const first = this.setOf(key);
    next: for (let entry = first; entry < first + WAYS; entry++) {
      if (usedAt[entry] === 0) continue;
      const start = entry * KEY_SIZE;
      for (let i = 0; i < KEY_SIZE; i++) if (keys[start + i] !== key[i]) continue next;
      return entry;
    }
    return -1;
  }

  private setOf(key: Uint8Array): number {
    let hash = 0;
    for (let i = 0; i < KEY_SIZE; i++) hash = Math.imul(hash, 31) + key[i]!;
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    return ((hash ^ (hash >>> 13)) & this.setMask) * WAYS;
  }

  private tick(): number {
    // After the counter wraps, ages are wrong for a short time.
    this.now = this.now === 0xffff_ffff ? 1 : this.now + 1;
    return this.now;
  }
}
