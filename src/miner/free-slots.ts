/** The slots of this node that are still free, and the time at which it uses them. */
import type { Slot } from '../consensus/consensus.ts';

export interface SlotSource {
  /** The first slot of the owner at or after `now` on the current head. */
  readonly nextSlot: (now: number) => Slot | undefined;
  /** True where this node has already made a block in the turn of that slot. */
  readonly isUsed: (slot: Slot) => boolean;
}

/**
 * How far a better block has come: its header, which is good as far as a header tells; or all of it,
 * with the signature of its generator, so that only this node still has to check it.
 */
export type Coming = 'announced' | 'complete';

/** Time for the last version of the previous block to arrive before the round is used. */
const GRACE_MS_MAX = 200;
const GRACE_SHARE = 20;
/**
 * Parts of its turn that a miner waits for a block that is on its way. A peer that announces a header
 * and keeps the rest back costs at most a quarter, so most of the turn is left for contracts. Nobody
 * keeps back what is here, and a block that is made without it is lost almost certainly.
 */
const WAIT_SHARES: Readonly<Record<Coming, number>> = { announced: 4, complete: 2 };

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

/** The part of the turn of a slot; none of a turn that never ends. */
const shareOf = ({ start, until }: Slot, share: number): number =>
  Number.isFinite(until) ? Math.floor((until - start) / share) : 0;

export const startOf = (slot: Slot): number =>
  Math.max(slot.from, slot.start + Math.min(GRACE_MS_MAX, shareOf(slot, GRACE_SHARE)));

/**
 * Until when the slot waits for a block in this state. It is counted from the beginning of the turn,
 * so however many blocks are waited for, one after the other, the rest of the turn is left.
 */
export const waitEnd = (slot: Slot, coming: Coming): number =>
  slot.start + shareOf(slot, WAIT_SHARES[coming]);
