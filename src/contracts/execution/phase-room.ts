/** Bytes and transactions that a block still has room for, with what running calls may need. */
export interface PhaseRoom {
  readonly bytes: number;
  readonly count: number;
  /** True where results of usual size still fit after those of all running calls. */
  fits(bytes: number): boolean;
  reserve(bytes: number): void;
  release(bytes: number): void;
  take(bytes: number): void;
}

export function createPhaseRoom(bytesMax: number, countMax: number): PhaseRoom {
  let bytes = bytesMax;
  let count = countMax;
  let reserved = 0;
  let running = 0;
  return {
    get bytes() {
      return bytes;
    },
    get count() {
      return count;
    },
    fits: (more) => reserved + more <= bytes && running < count,
    reserve(more) {
      reserved += more;
      running++;
    },
    release(less) {
      reserved -= less;
      running--;
    },
    take(used) {
      bytes -= used;
      count--;
    },
  };
}
