/**
 * The bytes of all bodies in memory, and of the large ones among them. Several threads may count
 * together, in shared memory.
 */
export interface BodyTally {
  /** Counts the bytes; false, and nothing is counted, where either sum would be too high. */
  take(bytes: number, largeBytes: number, bytesMax: number, largeBytesMax: number): boolean;
  giveBack(bytes: number, largeBytes: number): void;
}

const ALL = 0;
const LARGE = 1;
const COUNTERS = 2;

/** The memory in which threads count together. */
export const sharedCounters = (): SharedArrayBuffer =>
  new SharedArrayBuffer(COUNTERS * Int32Array.BYTES_PER_ELEMENT);

/** Counts in this memory, with all others that do so. */
export function sharedTally(memory: SharedArrayBuffer): BodyTally {
  const sums = new Int32Array(memory);
  const change = (bytes: number, largeBytes: number): readonly [number, number] => [
    Atomics.add(sums, ALL, bytes) + bytes,
    Atomics.add(sums, LARGE, largeBytes) + largeBytes,
  ];
  return {
    take(bytes, largeBytes, bytesMax, largeBytesMax) {
      // Adds first, so that two threads cannot both take the last room.
      const [all, large] = change(bytes, largeBytes);
      if (all <= bytesMax && large <= largeBytesMax) return true;
      change(-bytes, -largeBytes);
      return false;
    },
    giveBack: (bytes, largeBytes) => void change(-bytes, -largeBytes),
  };
}

/** Counts alone. */
export const ownTally = (): BodyTally => sharedTally(sharedCounters());
