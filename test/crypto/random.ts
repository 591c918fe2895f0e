/** Randomness of tests, the same in every run: a hash over a counter. */
import { createHash } from 'node:crypto';
import type { Random } from '../../src/base/ports/random.ts';

export function seededRandom(seed: string): Random {
  let counter = 0;
  return {
    bytes(count) {
      const out = new Uint8Array(count);
      for (let at = 0; at < count; at += 64) {
        const block = createHash('sha512').update(`${seed} ${counter++}`).digest();
        out.set(block.subarray(0, count - at), at);
      }
      return out;
    },
  };
}
