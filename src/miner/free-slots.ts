/** The slots of this node that are still free, and the time at which it uses them. */
import type { Slot } from '../consensus/consensus.ts';

export interface SlotSource {
  /** The first slot of the owner at or after `now` on the current head. */
  readonly nextSlot: (now: number) => Slot | undefined;
  /** True where this node has already made a block in the turn of that slot. */
  readonly isUsed: (slot: Slot) => boolean;
}

/** Time for the last version of the previous block to arrive before the round is used. */
const GRACE_MS_MAX = 200;
const GRACE_SHARE = 20;

/**
 * A second block in a turn would be an equivocation, even where the first one lost the fork choice
 * (consensus.md#making-a-block-under-proof-of-authority).
 */
export function freeSlot({ nextSlot, isUsed }: SlotSource, now: number): Slot | undefined {
  let slot = nextSlot(now);
  while (slot !== undefined && isUsed(slot)) {
    if (!Number.isFinite(slot.until)) return undefined;
    slot = nextSlot(slot.until);
  }
  return slot;
}

export function startOf({ from, until }: Slot): number {
  const length = Number.isFinite(until) ? until - from : 0;
  return from + Math.min(GRACE_MS_MAX, Math.floor(length / GRACE_SHARE));
}
