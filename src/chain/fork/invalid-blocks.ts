/**
 * The ids of blocks that broke a rule, so that the same block costs nothing the second time
 * (network.md#sync). A block from the future is never recorded, since it may become valid.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { ExpiringSet } from '../../concurrency/bounded-cache.ts';
import type { BadBlock } from './bad-block.ts';

export interface InvalidBlocks {
  /** Remembers the block where a rule was broken by what its generator has signed. */
  add(bad: BadBlock): void;
  has(id: Uint8Array): boolean;
}

export interface InvalidBlocksOptions {
  readonly max: number;
  readonly forgetMs: number;
}

export function createInvalidBlocks(
  options: InvalidBlocksOptions,
  clock: Pick<Clock, 'monotonic'>,
): InvalidBlocks {
  const ids = new ExpiringSet(options.max, options.forgetMs, clock);
  return {
    add: ({ id, remembered }) => void (remembered && ids.add(latin1(id))),
    has: (id) => ids.has(latin1(id)),
  };
}
