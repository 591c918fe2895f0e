/**
 * Ids of blocks that broke a rule, so that the same block costs nothing the second time
 * (protocol.md §10.6). A block from the future never gets in: its time may come.
 *
 * Invariant: at most `max` ids, the oldest leave first.
 */
import { latin1 } from '../base/bytes.ts';
import type { Clock } from '../base/ports.ts';

export interface InvalidBlocks {
  add(id: Uint8Array): void;
  has(id: Uint8Array): boolean;
}

export interface InvalidBlocksOptions {
  readonly max: number;
  readonly forgetMs: number;
}

export function createInvalidBlocks(
  options: InvalidBlocksOptions,
  clock: Pick<Clock, 'now'>,
): InvalidBlocks {
  // In the order of adding, so that the oldest stand first.
  const addedAt = new Map<string, number>();
  return {
    add(id) {
      const key = latin1(id);
      addedAt.delete(key);
      addedAt.set(key, clock.now());
      if (addedAt.size <= options.max) return;
      for (const oldest of addedAt.keys()) {
        addedAt.delete(oldest);
        return;
      }
    },
    has(id) {
      const key = latin1(id);
      const at = addedAt.get(key);
      if (at === undefined) return false;
      if (clock.now() - at <= options.forgetMs) return true;
      addedAt.delete(key);
      return false;
    },
  };
}
