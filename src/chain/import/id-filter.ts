/**
 * A Bloom filter of transaction ids: it tells most unknown ids from the known ones without a read
 * of the store. A full filter answers "perhaps known" more often, and then the store decides.
 *
 * Invariant: for an id with the same beginning as an added one, `mayHave` is true. The index holds
 * the beginning only (block-index.ts), so the filter uses no other bytes.
 */

/** 8 MiB: 13 bits each for five million ids. */
const LINES = 2 ** 17;
/** All bits of an id are in one line of the processor's cache. */
const WORDS_OF_LINE = 16;
const BIT_OF_LINE = 511;

export class IdFilter {
  private readonly words = new Uint32Array(LINES * WORDS_OF_LINE);

  add(id: Uint8Array): void {
    const { words } = this;
    const line = lineOf(id);
    for (let at = FIRST_BIT; at < END_OF_BITS; at += 2) {
      const bit = bitAt(id, at);
      words[line + (bit >>> 5)]! |= 1 << (bit & 31);
    }
  }

  mayHave(id: Uint8Array): boolean {
    const { words } = this;
    const line = lineOf(id);
    for (let at = FIRST_BIT; at < END_OF_BITS; at += 2) {
      const bit = bitAt(id, at);
      if ((words[line + (bit >>> 5)]! & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }
}

// Ids are hashes or signatures, so any of their bytes serve as hashes.
const FIRST_BIT = 4;
const END_OF_BITS = 14;

const lineOf = (id: Uint8Array): number =>
  (((id[0]! << 16) | (id[1]! << 8) | id[2]!) & (LINES - 1)) * WORDS_OF_LINE;

const bitAt = (id: Uint8Array, at: number): number => ((id[at]! << 8) | id[at + 1]!) & BIT_OF_LINE;
